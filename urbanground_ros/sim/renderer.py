# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a city without a screen: Panda3D offscreen with shaders of our own."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
import logging
import math
import threading
from typing import NamedTuple
from typing import TYPE_CHECKING
import weakref
from weakref import WeakKeyDictionary
import zlib

import cv2
import numpy as np
from panda3d.core import AmbientLight
from panda3d.core import BitMask32
from panda3d.core import Camera
from panda3d.core import CullBinAttrib
from panda3d.core import CullBinEnums
from panda3d.core import CullBinManager
from panda3d.core import CullFaceAttrib
from panda3d.core import DepthTestAttrib
from panda3d.core import DepthWriteAttrib
from panda3d.core import DirectionalLight
from panda3d.core import FrameBufferProperties
from panda3d.core import Geom
from panda3d.core import GeomLines
from panda3d.core import GeomNode
from panda3d.core import GeomTriangles
from panda3d.core import GeomVertexArrayFormat
from panda3d.core import GeomVertexData
from panda3d.core import GeomVertexFormat
from panda3d.core import GraphicsEngine
from panda3d.core import GraphicsOutput
from panda3d.core import GraphicsPipe
from panda3d.core import GraphicsPipeSelection
from panda3d.core import InternalName
from panda3d.core import LMatrix4
from panda3d.core import loadPrcFileData
from panda3d.core import NodePath
from panda3d.core import OmniBoundingVolume
from panda3d.core import OrthographicLens
from panda3d.core import PerspectiveLens
from panda3d.core import RenderState
from panda3d.core import SamplerState
from panda3d.core import Shader
from panda3d.core import Texture
from panda3d.core import TransformState
from panda3d.core import TransparencyAttrib
from panda3d.core import Vec3
from panda3d.core import Vec4
from panda3d.core import WindowProperties

from urbanground_ros.sim.avatars import Avatar
from urbanground_ros.sim.avatars import place
from urbanground_ros.sim.barriers import BARRIER
from urbanground_ros.sim.barriers import barriers
from urbanground_ros.sim.errors import SimError
from urbanground_ros.sim.figures import animate
from urbanground_ros.sim.figures import names
from urbanground_ros.sim.figures import palette
from urbanground_ros.sim.lamplight import CELL
from urbanground_ros.sim.lamplight import LampField
from urbanground_ros.sim.lamplight import REACH
from urbanground_ros.sim.lamplight import SIZE
from urbanground_ros.sim.mapview import MapView
from urbanground_ros.sim.mapview import STANDOFF
from urbanground_ros.sim.mask import InstanceMask
from urbanground_ros.sim.mask import label
from urbanground_ros.sim.weather import Lighting
from urbanground_ros.sim.weather import lighting
from urbanground_ros.sim.weather import WEATHERS
from urbanground_ros.tiles import Camera as TileCamera
from urbanground_ros.tiles import Emission
from urbanground_ros.tiles import Instance
from urbanground_ros.tiles import TileMesh

if TYPE_CHECKING:
    from urbanground_ros.sim.people import People

_log = logging.getLogger(__name__)

#: Nearest and farthest that the first-person camera sees (m).
NEAR, FAR = 0.1, 2500.0
#: Pixels across the shadow map, and the steps in which the sun's shadows turn (rad).
SHADOW_SIZE = 2048
SHADOW_TURN = 0.004
#: Shadows fall so far to all sides of the first-person camera, and are thrown by what is so
#: far towards the sun (m).
SHADOW_REACH = 240.0
SHADOW_DEPTH = 1500.0
#: What the sun does not see is hidden from this camera.
SHADOW_MASK = BitMask32.bit(1)
#: Linear light in a picture for each lux from lamps.
LAMP_EXPOSURE = 0.036
#: What is drawn in an order that always is the same, for where two faces meet: by default it
#: would follow from where things are in memory.
CITY_BIN = 'city'
#: So many can be told apart by the colours of a mask.
MOST_INSTANCES = 1 << 24
#: Colour around the city on the map, sRGB from 0 to 1.
MAP_GROUND = (0.86, 0.88, 0.90)

_CONFIGURATION = """
window-type offscreen
audio-library-name null
sync-video 0
gl-version 3 2
textures-power-2 none
notify-level-display fatal
notify-level-egldisplay fatal
notify-level-glxdisplay fatal
"""

# Light is linear; textures and the result are sRGB, here by its usual square approximation.
# With NIGHT, lamps shine and nothing casts shadows; with GLOW, the surface itself shines too,
# with GLOW_ALIKE in its own colours.
_CITY_VERTEX = """
uniform mat4 p3d_ModelViewProjectionMatrix;
uniform mat4 p3d_ModelMatrix, shadow_matrix;
uniform vec3 eye, lamp_area;
in vec4 p3d_Vertex;
in vec3 p3d_Normal;
in vec2 p3d_MultiTexCoord0;
in vec2 glow_uv;
out vec2 uv, shining_uv;
out vec3 normal;
out vec3 sight;
out vec3 shade;
void main() {
  gl_Position = p3d_ModelViewProjectionMatrix * p3d_Vertex;
  vec3 place = (p3d_ModelMatrix * p3d_Vertex).xyz;
  uv = p3d_MultiTexCoord0;
  normal = mat3(p3d_ModelMatrix) * p3d_Normal;
  sight = place - eye;
#ifdef NIGHT
  shade = vec3((place.xy - lamp_area.xy) * lamp_area.z + 0.5, place.z);
#else
  shade = (shadow_matrix * vec4(place, 1.0)).xyz;
#endif
#ifdef GLOW
  shining_uv = glow_uv;
#endif
}
"""
_CITY_FRAGMENT = """
uniform sampler2D p3d_Texture0, lamp_map, glow_map;
uniform sampler2DShadow shadow;
uniform vec4 p3d_ColorScale;
uniform vec3 sun, sunlight, skylight, bounce, horizon, lamplight, glow;
uniform vec4 lamp_scale, lamp_offset;
uniform float haze, unlit, shadow_bias, lamps;
in vec2 uv, shining_uv;
in vec3 normal;
in vec3 sight;
in vec3 shade;
out vec4 color;
void main() {
#ifdef NIGHT
  vec3 n = normal;  // Near enough to unit length, for the dark.
#else
  vec3 n = normalize(normal);
#endif
  if (dot(n, sight) > 0.0) n = -n;
  vec3 around = mix(bounce, skylight, 0.5 + 0.5 * n.z);
  float facing = max(dot(n, sun), 0.0);
#ifdef NIGHT
  vec4 lamp = texture(lamp_map, shade.xy) * lamp_scale + lamp_offset;
  vec3 to = vec3(lamp.xy, lamp.z - shade.z);
  // A quarter comes from all around: from other lamps, and back from walls.
  float reached = 0.25 + 0.75 * max(dot(n, to) * inversesqrt(dot(to, to) + 0.5), 0.0);
  vec3 lit = lamplight * (lamp.w * lamp.w * reached * clamp(0.6 * to.z + 0.1, 0.0, 1.0));
#else
  if (facing > 0.0) facing *= texture(shadow, shade - vec3(0.0, 0.0, shadow_bias));
  const vec3 lit = vec3(0.0);
#endif
  vec3 light = mix(around + sunlight * facing, skylight * 0.9 + sunlight * 0.7, unlit) + lit;
  // Sharp enough to read signs; anisotropic filtering would nearly double the time on a CPU.
  vec3 base = texture(p3d_Texture0, uv, -0.6).rgb;
  vec3 seen = base * base * p3d_ColorScale.rgb * light;
#ifdef GLOW
  vec3 shining = texture(glow_map, shining_uv).rgb;
  seen += shining * shining * glow * lamps;
#endif
#ifdef GLOW_ALIKE
  seen += base * base * glow * lamps;
#endif
  seen = sqrt(seen);
  color = vec4(mix(horizon, seen, exp(-length(sight) * haze)), 1.0);
}
"""
_CITY = _CITY_VERTEX, _CITY_FRAGMENT
_SHADOW_VERTEX = """#version 150
uniform mat4 p3d_ModelViewProjectionMatrix;
in vec4 p3d_Vertex;
void main() { gl_Position = p3d_ModelViewProjectionMatrix * p3d_Vertex; }
"""
_SHADOW_FRAGMENT = """#version 150
void main() {}
"""
# With FEATURES, the vertices tell what they belong to.
_MASK_VERTEX = """
uniform mat4 p3d_ModelViewProjectionMatrix;
uniform float first;
in vec4 p3d_Vertex;
flat out int row;
#ifdef FEATURES
in float feature;
#endif
void main() {
  gl_Position = p3d_ModelViewProjectionMatrix * p3d_Vertex;
  row = int(first);
#ifdef FEATURES
  row += int(feature);
#endif
}
"""
_MASK_FRAGMENT = """
flat in int row;
out vec4 color;
void main() { color = vec4(row & 255, (row >> 8) & 255, (row >> 16) & 255, 255) / 255.0; }
"""
_MASK = _MASK_VERTEX, _MASK_FRAGMENT
_RAIN_VERTEX = _SHADOW_VERTEX
_RAIN_FRAGMENT = """#version 150
uniform vec4 p3d_Color;
out vec4 color;
void main() { color = p3d_Color; }
"""
_SKY_VERTEX = """#version 150
uniform mat4 p3d_ModelViewProjectionMatrix;
in vec4 p3d_Vertex;
out vec3 way;
void main() {
  gl_Position = p3d_ModelViewProjectionMatrix * p3d_Vertex;
  way = p3d_Vertex.xyz;
}
"""
_SKY_FRAGMENT = """#version 150
uniform vec3 sun, sunlight, horizon, zenith, dusk, afterglow;
in vec3 way;
out vec4 color;
void main() {
  vec3 d = normalize(way);
  float up = max(d.z, 0.0);
  vec3 sky = mix(horizon, zenith, 1.0 - exp(-3.2 * up));
  float toward = max(dot(d, sun), 0.0);
  float glow = 0.25 * pow(toward, 12.0) + smoothstep(0.9993, 0.9997, toward);
  float late = 0.5 + 0.5 * dot(d, dusk);
  color = vec4(sky + sunlight * glow + afterglow * late * late * exp(-4.0 * up), 1.0);
}
"""


class _Target(NamedTuple):
    """A buffer, and the texture that has its picture (colour or depth) after each frame."""

    plane: int
    width: int
    height: int
    stays: bool
    buffer: GraphicsOutput
    texture: Texture


class _Stage:
    """One context of a display library, for the thread that opened it.

    Targets are used again: Panda3D does not give back all the memory of a removed buffer.
    """

    def __init__(self, engine: GraphicsEngine, pipe: GraphicsPipe, host: GraphicsOutput) -> None:
        self.thread = threading.get_ident()
        self._engine = engine
        self._pipe = pipe
        self._host = host
        self._idle: list[_Target] = []

    def take(self, plane: int, width: int, height: int, camera: NodePath, *,
             stays: bool = False) -> _Target:
        """Return a target for what a camera sees, the colour or the depth plane.

        Shadow maps stay with the context and are drawn before colour; all else comes to memory.

        Raises:
            SimError: there is none of that size.
        """
        for target in self._idle:
            if target[:4] == (plane, width, height, stays):
                self._idle.remove(target)
                break
        else:
            target = self._make(plane, width, height, stays)
        target.buffer.makeDisplayRegion().setCamera(camera)
        return target

    def give_back(self, target: _Target) -> None:
        """Take a target back."""
        target.buffer.removeAllDisplayRegions()
        self._idle.append(target)

    def draw(self, *targets: _Target) -> None:
        """Draw one frame to these targets."""
        for target in targets:
            target.buffer.setActive(True)
        self._engine.renderFrame()
        for target in targets:
            target.buffer.setActive(False)
        # Without a task manager, Panda3D's caches would grow without bound.
        RenderState.garbageCollect()
        TransformState.garbageCollect()

    def _make(self, plane: int, width: int, height: int, stays: bool) -> _Target:
        colour = plane == GraphicsOutput.RTPColor
        properties = FrameBufferProperties()
        properties.setDepthBits(24 if colour or stays else 32)
        if colour:
            properties.setRgbaBits(8, 8, 8, 8)
        buffer = self._engine.makeOutput(
            self._pipe, 'target', 0 if colour else -1, properties,
            WindowProperties.size(width, height), GraphicsPipe.BFRefuseWindow,
            self._host.getGsg(), self._host)
        if buffer is None:
            raise SimError(f'renderer: opens no buffer of {width}x{height} pixels')
        buffer.setActive(False)
        texture = Texture()
        buffer.addRenderTexture(texture, GraphicsOutput.RTMBindOrCopy if stays
                                else GraphicsOutput.RTMCopyRam, plane)
        self._engine.openWindows()
        return _Target(plane, width, height, stays, buffer, texture)


class _Shadows:
    """What the sun sees, as a depth texture: drawn anew only when something of it changes."""

    def __init__(self, stage: _Stage, root: NodePath) -> None:
        self._lens = OrthographicLens()
        self._lens.setNearFar(0.0, 2 * SHADOW_DEPTH)
        camera = Camera('sun', self._lens)
        camera.setCameraMask(SHADOW_MASK)
        state = NodePath('state')
        state.setShader(Shader.make(Shader.SL_GLSL, _SHADOW_VERTEX, _SHADOW_FRAGMENT), 1)
        state.setAttrib(CullFaceAttrib.make(CullFaceAttrib.MCullNone), 1)
        camera.setInitialState(state.getState())
        self._camera = root.attachNewNode(camera)
        self.target = stage.take(GraphicsOutput.RTPDepth, SHADOW_SIZE, SHADOW_SIZE, self._camera,
                                 stays=True)
        texture = self.target.texture
        texture.setMinfilter(SamplerState.FTShadow)
        texture.setMagfilter(SamplerState.FTShadow)
        texture.setWrapU(SamplerState.WMBorderColor)
        texture.setWrapV(SamplerState.WMBorderColor)
        texture.setBorderColor(Vec4(1, 1, 1, 1))
        self._root = root
        self._place: object = None
        self.stale = True

    def follow(self, sun: tuple[float, float, float], middle: np.ndarray, reach: float) -> bool:
        """Turn to this sun and a place (3,); return whether the shadows have to be drawn.

        They reach `reach` metres to all sides of a grid's point near the place, and the sun has
        a grid too: what a picture shows does not depend on those before it.
        """
        step = reach / 4
        middle = np.round(middle / step) * step
        way = np.round(np.array(sun) / SHADOW_TURN)
        place = (*way, *middle, reach)
        if not self.stale and place == self._place:
            return False
        self.stale, self._place = False, place
        self._lens.setFilmSize(2 * reach, 2 * reach)
        self._camera.setPos(*(middle + way / np.linalg.norm(way) * SHADOW_DEPTH))
        self._camera.lookAt(*middle)
        to_texture = LMatrix4(0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, 0.5, 0.5, 0.5, 1)
        self._root.setShaderInput('shadow', self.target.texture)
        self._root.setShaderInput('shadow_matrix', self._root.getMat(self._camera)
                                  * self._lens.getProjectionMat() * to_texture)
        # A texel and a half in depth keeps a face from shading itself.
        self._root.setShaderInput('shadow_bias', 1.5 * reach / SHADOW_DEPTH / SHADOW_SIZE)
        return True


class Renderer:
    """One offscreen picture of a set of meshes; make, use and close it in one thread.

    Args:
        width: Of the picture, pixels.
        height: Of the picture, pixels.
        horizontal_fov: Of the first-person camera, radians.
        library: The Panda3D display library.
        avatars: What people are drawn as, in place of the built-in figures.

    Raises:
        SimError: the library cannot be loaded here, or gives no picture.
    """

    def __init__(self, width: int, height: int, horizontal_fov: float,
                 library: str = 'p3headlessgl', avatars: tuple[Avatar, ...] = ()) -> None:
        self.width = width
        self.height = height
        self._stage = _stage(library)
        if self._stage.thread != threading.get_ident():
            raise SimError('renderer: is in use by another thread, expected the same for all')
        self._shaded = library != 'p3tinydisplay'
        self._root = NodePath('root')
        self._city = self._root.attachNewNode('city')
        self._white = _plain_texture()
        self._city.setTexture(self._white)
        self._city.setAttrib(CullFaceAttrib.make(CullFaceAttrib.MCullNone))
        self._city.setAttrib(CullBinAttrib.make(CITY_BIN, 0))
        self._nodes: WeakKeyDictionary[TileMesh, NodePath] = WeakKeyDictionary()
        self._textures: dict[int, Texture] = {}
        self._shown: dict[TileMesh, NodePath] = {}
        self._closures = self._city.attachNewNode(GeomNode('closures'))
        self._lamps: LampField | None = None
        self._people = self._city.attachNewNode(GeomNode('people'))
        self._avatars = avatars
        if not avatars:
            self._people.setTexture(_palette())
            self._people.setTag('mask', 'FEATURES')
        self._people.hide(SHADOW_MASK)
        self._rain = self._root.attachNewNode(GeomNode('rain'))
        self._rain.hide(SHADOW_MASK)
        self._rain.setTransparency(TransparencyAttrib.MAlpha)
        self._rain.setAttrib(DepthWriteAttrib.make(DepthWriteAttrib.MOff))
        self._fov = 2 * math.atan(math.tan(horizontal_fov / 2) * height / width)
        self._perspective = PerspectiveLens()
        self._perspective.setFov(math.degrees(horizontal_fov), math.degrees(self._fov))
        self._perspective.setNearFar(NEAR, FAR)
        self._orthographic = OrthographicLens()
        self._orthographic.setNearFar(1.0, 2 * STANDOFF)
        self._camera = self._root.attachNewNode(Camera('camera', self._perspective))
        self._target = self._stage.take(GraphicsOutput.RTPColor, width, height, self._camera)
        self._target.buffer.setClearColorActive(True)
        if self._shaded:
            self._by_day, self._by_night = _shader(*_CITY), _shader(*_CITY, 'NIGHT')
            self._glowing = {name: _shaded(_shader(*_CITY, 'NIGHT', name))
                             for name in ('GLOW', 'GLOW_ALIKE')}
            self._camera.node().setTagStateKey('glow')
            self._city.setShader(self._by_day)
            self._city.setShaderInput('unlit', 0.0)
            self._dark = False
            self._lit: object = None
            self._lamp_map = _map_texture()
            self._city.setShaderInput('lamp_map', self._lamp_map)
            self._rain.setShader(Shader.make(Shader.SL_GLSL, _RAIN_VERTEX, _RAIN_FRAGMENT))
            self._sky = _sky(self._root)
            self._shadows = _Shadows(self._stage, self._root)
            # Below the other one, it looks where that does.
            self._mask_camera = self._camera.attachNewNode(Camera('mask', self._perspective))
            mask = self._mask_camera.node()
            mask.setInitialState(_shaded(_shader(*_MASK), 1))
            mask.setTagStateKey('mask')
            mask.setTagState('FEATURES', _shaded(_shader(*_MASK, 'FEATURES'), 1))
            self._root.setShaderInput('first', 0.0)
        else:
            self._ambient = self._city.attachNewNode(AmbientLight('sky'))
            self._sunlight = self._city.attachNewNode(DirectionalLight('sun'))
            self._city.setLight(self._ambient)
            self._city.setLight(self._sunlight)
        self._light(lighting(WEATHERS['sunny'], (0.0, 0.0, 1.0)), np.zeros(3))
        self._frame()

    def camera(self, eye: tuple[float, float, float], yaw: float, pitch: float) -> TileCamera:
        """Return what `first_person` looks through, for the selection of tiles."""
        flat = math.cos(pitch)
        return TileCamera(eye, (flat * math.cos(yaw), flat * math.sin(yaw), math.sin(pitch)),
                          self._fov, self.width, self.height, around=SHADOW_REACH)

    def show(self, meshes: Iterable[TileMesh]) -> None:
        """Show these meshes and no others; those that were shown before are quickly back."""
        shown = {mesh: self._node(mesh) for mesh in meshes if len(mesh.faces)}
        if shown.keys() == self._shown.keys():
            return
        for mesh, node in self._shown.items():
            if mesh not in shown:
                node.detachNode()
        for mesh, node in shown.items():
            if mesh not in self._shown:
                node.reparentTo(self._city, zlib.crc32(mesh.name.encode()) >> 1)
        self._shown = shown
        if self._shaded:
            self._shadows.stale = True
            self._lamps = None

    def show_closures(self, lines: Iterable[np.ndarray]) -> None:
        """Show barriers along lines (N, 3) on the ground in place of those before."""
        self._closures.removeNode()
        self._closures = self._city.attachNewNode(GeomNode('closures'))
        if self._shaded:
            self._shadows.stale = True
        mesh = barriers(lines)
        if mesh is not None:
            assert mesh.texture is not None
            self._closures.node().addGeom(_geom(mesh))
            self._closures.setTexture(_texture(mesh.texture))

    def first_person(self, eye: tuple[float, float, float], yaw: float, pitch: float,
                     light: Lighting, people: People | None = None,
                     streaks: np.ndarray | None = None) -> np.ndarray:
        """Return what a camera at `eye` (m, ENU) sees, RGB of shape (height, width, 3).

        `yaw` is radians counter-clockwise from east, `pitch` radians upwards; `streaks`
        (N, 2, 3) are the ends of lines that rain draws in the air.
        """
        self._light(light, np.array(eye))
        self._show_people(people)
        self._show_rain(streaks, light.horizon)
        self._camera.node().setLens(self._perspective)
        self._camera.setPosHpr(*eye, math.degrees(yaw) - 90.0, math.degrees(pitch), 0.0)
        self._target.buffer.setClearColor(Vec4(*light.horizon, 1))
        if self._shaded:
            self._sky.show()
            self._sky.setPos(*eye)
        return self._frame()

    @property
    def has_depth(self) -> bool:
        """Whether it measures depth, and masks instances."""
        return self._shaded

    def depth(self, eye: tuple[float, float, float], yaw: float, pitch: float,
              people: People | None = None) -> np.ndarray:
        """Return the distances along the optical axis, float32 (height, width) in metres.

        The view is that of `first_person`; NaN where nothing is.
        """
        self._aim(eye, yaw, pitch, people)
        z = self._measure(GraphicsOutput.RTPDepth, self._camera).view(np.float32)[..., 0]
        # The depth buffer holds 1/distance, from 0 at the near plane to 1 at the far one.
        metres = NEAR * FAR / (FAR - z.astype(np.float64) * (FAR - NEAR))
        return np.where(z < 1.0, metres, np.nan).astype(np.float32)

    def instance_mask(self, eye: tuple[float, float, float], yaw: float, pitch: float,
                      people: People | None = None) -> InstanceMask:
        """Return which thing each pixel of `first_person` shows, rain and sky aside.

        Raises:
            SimError: there are more things than its colours.
        """
        self._aim(eye, yaw, pitch, people)
        table = self._number(people)
        blue, green, red = np.moveaxis(self._measure(
            GraphicsOutput.RTPColor, self._mask_camera)[..., :3].astype(np.int32), -1, 0)
        return label(red + (green << 8) + (blue << 16), table)

    def overhead(self, view: MapView, light: Lighting) -> np.ndarray:
        """Return the city on the map, RGB of shape (height, width, 3), without marks."""
        eye = view.eye()
        right, up, forward = view.axes()
        self._light(light, eye, np.array(view.center), 0.75 * view.span)
        self._show_people(None)
        self._show_rain(None)
        self._orthographic.setFilmSize(view.span, view.span * self.height / self.width)
        self._camera.node().setLens(self._orthographic)
        # Panda3D's camera looks along its y with z up; matrices act on row vectors.
        self._camera.setMat(LMatrix4(*right, 0, *forward, 0, *up, 0, *eye, 1))
        self._target.buffer.setClearColor(Vec4(*MAP_GROUND, 1))
        if self._shaded:
            self._sky.hide()
        return self._frame()

    def close(self) -> None:
        """Give back the buffer and everything in it."""
        self._shown.clear()
        self._nodes.clear()
        self._city.getChildren().detach()
        self._root.getChildren().detach()
        self._stage.give_back(self._target)
        if self._shaded:
            self._stage.give_back(self._shadows.target)
        self._stage.draw()  # the context lets go of things as a frame begins

    def _aim(self, eye: tuple[float, float, float], yaw: float, pitch: float,
             people: People | None) -> None:
        """Look as `first_person` does, at nothing but surfaces."""
        self._show_people(people)
        self._show_rain(None)
        self._sky.hide()
        self._camera.node().setLens(self._perspective)
        self._camera.setPosHpr(*eye, math.degrees(yaw) - 90.0, math.degrees(pitch), 0.0)

    def _measure(self, plane: int, camera: NodePath) -> np.ndarray:
        """Return what a plane has of a camera's view, bytes (height, width, of a pixel)."""
        target = self._stage.take(plane, self.width, self.height, camera)
        target.buffer.setClearColor(Vec4(0, 0, 0, 0))
        target.buffer.setClearColorActive(plane == GraphicsOutput.RTPColor)
        try:
            self._stage.draw(target)
            data = target.texture.getRamImage()
            if not data:
                raise SimError('renderer: gives no measurement')
            return np.frombuffer(data, np.uint8).reshape(self.height, self.width, -1)[::-1].copy()
        finally:
            self._stage.give_back(target)

    def _number(self, people: People | None) -> list[Instance | None]:
        """Give all that is shown rows of a table, and return it."""
        table: list[Instance | None] = [None]
        firsts: dict[int, int] = {}
        for mesh, node in self._shown.items():
            if mesh.features is not None:
                rows = mesh.features.table
                if id(rows) not in firsts:
                    firsts[id(rows)] = len(table)
                    table += [*rows, None]
                node.setShaderInput('first', float(firsts[id(rows)]))
        self._people.setShaderInput('first', float(len(table)))
        for row, person in enumerate(self._people.getChildren(), len(table)):
            person.setShaderInput('first', float(row))
        table += names(people) if people is not None else ()
        self._closures.setShaderInput('first', float(len(table)))
        table.append(BARRIER)
        if len(table) > MOST_INSTANCES:
            raise SimError(f'renderer: shows {len(table)} instances, expected at most '
                           f'{MOST_INSTANCES}')
        return table

    def _node(self, mesh: TileMesh) -> NodePath:
        """Return the node of a mesh; it is kept as long as the mesh is."""
        if mesh in self._nodes:
            return self._nodes[mesh]
        node = GeomNode(mesh.name)
        node.addGeom(_geom(mesh))
        self._nodes[mesh] = path = NodePath(node)
        if mesh.texture is not None and mesh.uvs is not None:
            path.setTexture(self._texture(mesh.texture))
        path.setColorScale(Vec4(*mesh.color))
        if self._shaded:
            path.setShaderInput('unlit', float(mesh.unlit))
            if mesh.emission is not None:
                self._let_glow(path, mesh, mesh.emission)
            if mesh.features is not None:
                path.setTag('mask', 'FEATURES')
        elif mesh.unlit:
            path.setLightOff()
        return path

    def _texture(self, picture: np.ndarray) -> Texture:
        """Return the texture of a picture; it is kept as long as the picture is."""
        key = id(picture)
        if key not in self._textures:
            self._textures[key] = _texture(picture if self._shaded else _power_of_two(picture))
            # Whatever comes later at the same place in memory is another picture.
            weakref.finalize(picture, self._textures.pop, key, None)
        return self._textures[key]

    def _let_glow(self, path: NodePath, mesh: TileMesh, emission: Emission) -> None:
        """Let the node of a mesh shine after dark."""
        path.setShaderInput('glow', Vec3(*emission.factor))
        if emission.texture is mesh.texture and emission.uvs is None:
            path.setTag('glow', 'GLOW_ALIKE')
            return
        path.setTag('glow', 'GLOW')
        texture = self._white
        if emission.texture is not None:
            texture = self._texture(emission.texture)
            # Between two sizes of a picture of lit windows nobody sees the step.
            texture.setMinfilter(SamplerState.FTLinearMipmapNearest)
        path.setShaderInput('glow_map', texture)

    def _show_people(self, people: People | None) -> None:
        self._people.getChildren().detach()
        self._people.node().removeAllGeoms()
        if people is None or not len(people.ids):
            return
        if not self._avatars:
            self._people.node().addGeom(_geom(animate(people)))
        for placing in place(self._avatars, people) if self._avatars else ():
            person = self._people.attachNewNode('person')
            person.setPosHprScale(*placing.position, math.degrees(placing.heading), 0.0, 0.0,
                                  placing.scale, placing.scale, placing.scale)
            # Everybody in a pose shares its nodes.
            for mesh in self._avatars[placing.avatar].pose(placing.pose):
                self._node(mesh).instanceTo(person)

    def _show_rain(self, streaks: np.ndarray | None,
                   horizon: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        self._rain.node().removeAllGeoms()
        if streaks is None or not len(streaks):
            return
        # A drop shows the sky upside down: it is brighter than what is behind it.
        self._rain.setColor(Vec4(*(min(1.0, 0.15 + 1.4 * part) for part in horizon), 0.6))
        data = GeomVertexData('rain', GeomVertexFormat.getV3(), Geom.UHStream)
        data.uncleanSetNumRows(2 * len(streaks))
        memoryview(data.modifyArray(0)).cast('B')[:] = streaks.astype('f4').tobytes()
        lines = GeomLines(Geom.UHStream)
        lines.addNextVertices(2 * len(streaks))
        geom = Geom(data)
        geom.addPrimitive(lines)
        self._rain.node().addGeom(geom)

    def _light(self, light: Lighting, eye: np.ndarray, middle: np.ndarray | None = None,
               reach: float = SHADOW_REACH) -> None:
        """Light the city for an eye (3,), with shadows about a place (3,), the eye's own if none.

        Shadows reach `reach` metres.
        """
        if not self._shaded:
            self._ambient.node().setColor(Vec4(*light.skylight, 1))
            self._sunlight.node().setColor(Vec4(*light.sunlight, 1))
            self._sunlight.node().setDirection(-Vec3(*light.sun))
            return
        for name in ('sun', 'sunlight', 'skylight', 'bounce', 'horizon', 'zenith', 'dusk',
                     'afterglow'):
            self._root.setShaderInput(name, Vec3(*getattr(light, name)))
        self._shine(light.lamps, eye)
        if not self._dark and self._shadows.follow(
                light.sun, eye if middle is None else middle, reach):
            self._stage.draw(self._shadows.target)
        self._root.setShaderInput('haze', light.haze)
        self._root.setShaderInput('eye', Vec3(*eye))

    def _shine(self, lamps: float, eye: np.ndarray) -> None:
        """Let the lamps around the eye and all that glows shine at a share of their strength."""
        dark = lamps > 0.0
        if dark is not self._dark:
            self._dark = dark
            self._city.setShader(self._by_night if dark else self._by_day)
            self._camera.node().clearTagStates()
            for name, state in self._glowing.items() if dark else ():
                self._camera.node().setTagState(name, state)
        if not dark:
            return
        if self._lamps is None:
            self._lamps = LampField(lamp for mesh in self._shown for lamp in mesh.lamps)
        middle = self._lamps.middle(eye[0], eye[1])
        lit = middle, self._lamps.near(middle)
        if lit != self._lit:
            self._lit = lit
            lamp_map = self._lamps.map(middle)
            # Panda3D keeps blue first.
            self._lamp_map.setRamImage(lamp_map.cells[..., [2, 1, 0, 3]].tobytes())
            self._root.setShaderInput('lamp_area', Vec3(*middle, 1 / (SIZE * CELL)))
            self._root.setShaderInput('lamp_scale', Vec4(
                2 * REACH, 2 * REACH, lamp_map.span, math.sqrt(lamp_map.strength)))
            self._root.setShaderInput('lamp_offset', Vec4(-REACH, -REACH, lamp_map.low, 0.0))
            self._lamp_color = Vec3(*lamp_map.color) * LAMP_EXPOSURE
        self._root.setShaderInput('lamps', lamps)
        self._root.setShaderInput('lamplight', self._lamp_color * lamps)

    def _frame(self) -> np.ndarray:
        self._stage.draw(self._target)
        data = self._target.texture.getRamImageAs('RGB')
        if not data:
            raise SimError('renderer: gives no picture')
        image = np.frombuffer(data, np.uint8).reshape(self.height, self.width, 3)
        return np.ascontiguousarray(image[::-1])


#: Display libraries of Panda3D, the better first.
LIBRARIES = ('p3headlessgl', 'p3tinydisplay')


def open_renderer(width: int, height: int, horizontal_fov: float,
                  avatars: tuple[Avatar, ...] = ()) -> Renderer | None:
    """Return the best renderer that works here; with none, say so once and return None."""
    reasons = []
    for library in LIBRARIES:
        try:
            return Renderer(width, height, horizontal_fov, library, avatars)
        except SimError as error:
            reasons.append(str(error))
    _log.warning('no pictures (install libegl1 and libgl1): %s', '; '.join(reasons))
    return None


def encode_jpeg(image: np.ndarray, quality: int) -> bytes:
    """Encode an RGB picture (H, W, 3); the same picture gives the same bytes."""
    done, data = cv2.imencode('.jpg', cv2.cvtColor(image, cv2.COLOR_RGB2BGR),
                              [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done
    return data.tobytes()


@cache
def _stage(library: str) -> _Stage:
    """Open a display library once a process.

    All renderers share its context: Panda3D mixes up the contexts of one process, and the end
    of one ends the display for all.
    """
    loadPrcFileData('', _CONFIGURATION)
    manager = CullBinManager.getGlobalPtr()
    if manager.findBin(CITY_BIN) < 0:
        manager.addBin(CITY_BIN, CullBinEnums.BT_front_to_back, manager.getBinSort(
            manager.findBin('opaque')))
    pipe = GraphicsPipeSelection.getGlobalPtr().makeModulePipe(library)
    if pipe is None:
        raise SimError(f'renderer {library}: cannot be loaded, expected its system library')
    engine = GraphicsEngine(pipe)
    host = engine.makeOutput(pipe, 'stage', 0, FrameBufferProperties(),
                             WindowProperties.size(1, 1), GraphicsPipe.BFRefuseWindow)
    if host is None:
        raise SimError(f'renderer {library}: opens no context')
    return _Stage(engine, pipe, host)


def _shader(vertex: str, fragment: str, *names: str) -> Shader:
    """Return a shader with these names defined."""
    head = '\n'.join(('#version 150', *(f'#define {name}' for name in names)))
    return Shader.make(Shader.SL_GLSL, head + vertex, head + fragment)


def _shaded(shader: Shader, priority: int = 0) -> RenderState:
    """Return the state that only sets a shader."""
    node = NodePath('state')
    node.setShader(shader, priority)
    return node.getState()


def _map_texture() -> Texture:
    """Return an empty texture for the map of a lamp field."""
    texture = Texture()
    texture.setup2dTexture(SIZE, SIZE, Texture.TUnsignedByte, Texture.FRgba)
    texture.setMinfilter(SamplerState.FTLinear)
    texture.setMagfilter(SamplerState.FTLinear)
    texture.setWrapU(SamplerState.WMClamp)
    texture.setWrapV(SamplerState.WMClamp)
    return texture


@cache
def _format(glow: bool, features: bool) -> GeomVertexFormat:
    """Return a vertex format, with coordinates for the emission as its last column.

    Features are an array of their own, which pictures do not touch.
    """
    columns = [('vertex', 3, Geom.CPoint), ('normal', 3, Geom.CNormal),
               ('texcoord', 2, Geom.CTexcoord), ('glow_uv', 2, Geom.CTexcoord)]
    form = GeomVertexFormat()
    for part in (columns[:4 if glow else 3], [('feature', 1, Geom.COther)] if features else []):
        array = GeomVertexArrayFormat()
        for name, size, contents in part:
            array.addColumn(InternalName.make(name), size, Geom.NTFloat32, contents)
        if part:
            form.addArray(array)
    return GeomVertexFormat.registerFormat(form)


def _geom(mesh: TileMesh) -> Geom:
    count = len(mesh.positions)
    vertices = np.zeros((count, 8 if mesh.emission is None else 10), 'f4')
    vertices[:, :3] = mesh.positions
    vertices[:, 3:6] = mesh.normals
    if mesh.uvs is not None:
        vertices[:, 6:8] = mesh.uvs
    if mesh.emission is not None:
        uvs = mesh.uvs if mesh.emission.uvs is None else mesh.emission.uvs
        if uvs is not None:
            vertices[:, 8:] = uvs
    form = _format(mesh.emission is not None, mesh.features is not None)
    data = GeomVertexData(mesh.name, form, Geom.UHStatic)
    data.uncleanSetNumRows(count)
    memoryview(data.modifyArray(0)).cast('B')[:] = vertices.tobytes()
    if mesh.features is not None:
        memoryview(data.modifyArray(1)).cast('B')[:] = mesh.features.ids.astype('f4').tobytes()
    triangles = GeomTriangles(Geom.UHStatic)
    triangles.setIndexType(Geom.NTUint32)
    indices = triangles.modifyVertices()
    indices.uncleanSetNumRows(mesh.faces.size)
    memoryview(indices).cast('B')[:] = np.ascontiguousarray(mesh.faces, 'u4').tobytes()
    geom = Geom(data)
    geom.addPrimitive(triangles)
    return geom


def _texture(image: np.ndarray) -> Texture:
    """Make a texture of an RGB picture with row 0 at the top; Panda3D keeps BGR, bottom up."""
    texture = Texture()
    texture.setup2dTexture(image.shape[1], image.shape[0], Texture.TUnsignedByte, Texture.FRgb)
    texture.setRamImage(np.ascontiguousarray(image[::-1, :, ::-1]).tobytes())
    texture.setMinfilter(SamplerState.FTLinearMipmapLinear)
    texture.setMagfilter(SamplerState.FTLinear)
    texture.setWrapU(SamplerState.WMRepeat)
    texture.setWrapV(SamplerState.WMRepeat)
    texture.setKeepRamImage(False)
    return texture


def _power_of_two(picture: np.ndarray) -> np.ndarray:
    """Return a picture as p3tinydisplay can have it: others stay white.

    One of a single pixel it would lose after a frame.
    """
    height, width = (max(2, 1 << (side.bit_length() - 1)) for side in picture.shape[:2])
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)


def _plain_texture() -> Texture:
    """Return a white texture, of a size that every library can have."""
    return _texture(np.full((2, 2, 3), 255, np.uint8))


def _palette() -> Texture:
    """Return the texture of the figures, whose colours must not mix."""
    texture = _texture(palette())
    texture.setMinfilter(SamplerState.FTNearest)
    texture.setMagfilter(SamplerState.FTNearest)
    return texture


def _sky(root: NodePath) -> NodePath:
    """Attach a box around the camera that is drawn behind everything."""
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], 'f4')
    faces = np.array([[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4],
                      [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]], 'u4')
    node = GeomNode('sky')
    node.addGeom(_geom(TileMesh('sky', corners, corners, None, faces)))
    node.setBounds(OmniBoundingVolume())
    node.setFinal(True)
    sky = root.attachNewNode(node)
    sky.setAttrib(CullFaceAttrib.make(CullFaceAttrib.MCullNone))
    sky.setAttrib(CullBinAttrib.make('background', 0))
    sky.setAttrib(DepthWriteAttrib.make(DepthWriteAttrib.MOff))
    sky.setAttrib(DepthTestAttrib.make(DepthTestAttrib.MNone))
    sky.setShader(Shader.make(Shader.SL_GLSL, _SKY_VERTEX, _SKY_FRAGMENT))
    return sky
