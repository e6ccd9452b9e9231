# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""What stand-ins for services have in common: HTTP on the loopback interface, in a thread."""

from abc import ABC
from abc import abstractmethod
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer
import threading
from urllib.parse import parse_qs
from urllib.parse import urlsplit


class HttpStandIn:
    """A service that answers as its handler does, from entering to leaving it."""

    def __init__(self, handler: type['StandInHandler']) -> None:
        self._lock = threading.Lock()
        self._server = _Server(('127.0.0.1', 0), type('Handler', (handler,), {'standin': self}))
        self.origin = f'http://127.0.0.1:{self._server.server_address[1]}'

    def __enter__(self):
        """Begin to serve."""
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """End serving."""
        self._server.shutdown()
        self._server.server_close()


class StandInHandler(BaseHTTPRequestHandler, ABC):
    """Answers one request at a time for a `standin`, by its `serve`."""

    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, status: int, body: bytes, kind: str, length: int | None = None,
               **headers: str) -> None:
        """Answer; a `length` that is not the body's is a fault."""
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        try:
            self.serve(parts.path, parse_qs(parts.query))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    @abstractmethod
    def serve(self, path: str, query: dict[str, list[str]]) -> None:
        """Answer a path with a query, each parameter with all its values."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        pass
