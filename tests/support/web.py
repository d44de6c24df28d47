"""A web server for tests: it serves one folder, continues files, and misbehaves on demand."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Web(ThreadingHTTPServer):
    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.requests: list[str | None] = []  # the Range of each
        self.cut_after: int | None = None  # bytes, of every answer
        self.knows_ranges = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(BaseHTTPRequestHandler):
    server: Web

    def do_GET(self) -> None:
        wanted = self.headers["Range"] if self.server.knows_ranges else None
        self.server.requests.append(self.headers["Range"])
        path = self.server.folder / self.path.lstrip("/")
        if not path.is_file():
            return self.send_error(404)
        content = path.read_bytes()
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if start >= len(content):
            return self.send_error(416)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:][: self.server.cut_after])
        return None

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[Web]:
    with Web(folder) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
