"""A stand-in for a language model that starts an endless response."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

PIECE = {"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]}
PAUSE_S = 0.1


class _Writes(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if not self.path.endswith("/chat/completions"):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            while True:
                self.wfile.write(f"data: {json.dumps(PIECE)}\n\n".encode())
                time.sleep(PAUSE_S)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def slow_model() -> Iterator[str]:
    """Run it on a free port; yield the base address of its API."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Writes)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
