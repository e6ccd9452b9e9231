# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What waits to be sent to one client: bounded per topic, services first."""

from __future__ import annotations

from collections import deque
from collections import OrderedDict
from dataclasses import dataclass
from dataclasses import replace
import threading

from urbanground_ros.bridge.protocol import encode_header

# Small frames go out together, up to about this many bytes in one system call.
_BATCH_BYTES = 64 * 1024
_BATCH_FRAMES = 256
_MAX_TEXTS = 256

Buffers = list[bytes]


@dataclass
class TopicCounters:
    """Traffic of one topic of one client in one direction, since it connected."""

    frames: int = 0
    bytes: int = 0  # payload
    drops: int = 0

    def count(self, size: int) -> None:
        """Add a frame with a payload of `size` bytes."""
        self.frames += 1
        self.bytes += size


class Outbox:
    """Frames for one client, filled by many threads and emptied by its writer.

    Messages wait in one queue a topic, which keeps the newest: the connector drains its socket
    whatever it costs its user, so what is late is better lost here. Topics take turns, so a
    large image does not hold up `/tf`. Commands, requests and responses go first and are never
    dropped; only console texts are, beyond 256 waiting.

    Args:
        max_bytes: bound of what one topic may keep waiting; its newest message always may.
        max_urgent: bound, bytes, of commands and services; see :meth:`put_urgent`.
    """

    def __init__(self, *, max_bytes: int, max_urgent: int) -> None:
        self._max_bytes = max_bytes
        self._max_urgent = max_urgent
        self._urgent: deque[bytes] = deque()
        self._urgent_bytes = 0
        self._topics: OrderedDict[str, deque[bytes]] = OrderedDict()
        self._topic_bytes: dict[str, int] = {}
        self._counters: dict[str, TopicCounters] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._flushing = False

    def counters(self) -> dict[str, TopicCounters]:
        """A copy of the counters by topic."""
        with self._changed:
            return {topic: replace(counters) for topic, counters in self._counters.items()}

    def put(self, topic: str, payload: bytes, depth: int) -> None:
        """Queue a message; with `depth` waiting, the oldest of the topic is dropped."""
        with self._changed:
            if self._closed:
                return
            queue = self._topics.setdefault(topic, deque())
            size = self._topic_bytes.get(topic, 0) + len(payload)
            counters = self._counters.setdefault(topic, TopicCounters())
            while queue and (len(queue) >= depth or size > self._max_bytes):
                size -= len(queue.popleft())
                counters.drops += 1
            queue.append(payload)
            self._topic_bytes[topic] = size
            self._changed.notify()

    def put_urgent(self, frames: bytes) -> bool:
        """Queue whole frames that must stay together.

        Returns:
            False where the bound is reached: the client does not read its replies.
        """
        with self._changed:
            if self._urgent_bytes + len(frames) > self._max_urgent:
                return False
            if not self._closed:
                self._urgent.append(frames)
                self._urgent_bytes += len(frames)
                self._changed.notify()
            return True

    def put_text(self, frame: bytes) -> None:
        """Queue a line for the console, unless too many wait already."""
        if len(self._urgent) < _MAX_TEXTS:
            self.put_urgent(frame)

    def forget(self, topic: str) -> None:
        """Drop what waits for a topic that is not subscribed any more."""
        with self._changed:
            self._topics.pop(topic, None)
            self._topic_bytes.pop(topic, None)

    def take(self) -> Buffers:
        """Wait for frames and take some, as buffers to send in this order; empty at the end."""
        with self._changed:
            while not (self._closed or self._urgent or self._topics):
                self._changed.wait()
            if self._closed and not self._flushing:
                return []
            return self._take_urgent() or self._take_topics()

    def _take_urgent(self) -> Buffers:
        buffers = list(self._urgent)[:_BATCH_FRAMES]
        for frames in buffers:
            self._urgent.popleft()
            self._urgent_bytes -= len(frames)
        return buffers

    def _take_topics(self) -> Buffers:
        buffers: Buffers = []
        size = 0
        while self._topics and size < _BATCH_BYTES and len(buffers) < 2 * _BATCH_FRAMES:
            topic, queue = self._topics.popitem(last=False)
            payload = queue.popleft()
            if queue:
                self._topics[topic] = queue
                self._topic_bytes[topic] -= len(payload)
            else:
                self._topic_bytes.pop(topic)
            self._counters[topic].count(len(payload))
            buffers += (encode_header(topic, len(payload)), payload)
            size += len(payload)
        return buffers

    def close(self, *, flush: bool = False) -> None:
        """Take no more; with `flush`, let the writer send the commands that wait."""
        with self._changed:
            self._closed = True
            self._flushing = flush
            self._topics.clear()
            self._topic_bytes.clear()
            self._changed.notify_all()
