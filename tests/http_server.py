"""Small HTTP servers of the tests, each until the end of a block."""

import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SELF_SIGNED = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test -addext".split()
)


class Handler(BaseHTTPRequestHandler):
    """Answers by `get` and `post`, in JSON, and keeps the output of tests clean."""

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    def get(self) -> None:
        """Answer a GET."""
        self.answer(404, {})

    def post(self) -> None:
        """Answer a POST."""
        self.answer(404, {})

    def asked(self) -> Any:
        """Read the JSON that was sent."""
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, status: int, body: Any) -> None:
        """Send a whole answer in JSON, or as it is given in bytes."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is called there
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # however late they are taken up


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], certificate: Path | None = None) -> Iterator[str]:
    """Run a server on a free port of this machine, with TLS if it has a certificate; yield its address."""
    with _Server(("127.0.0.1", 0), handler) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def certificate_for(names: str, path: Path) -> Path:
    """Write a key and a certificate signed by itself for names like `DNS:host,IP:127.0.0.1`."""
    key = path.with_suffix(".key")
    subprocess.run(
        [*SELF_SIGNED, f"subjectAltName={names}", "-keyout", key, "-out", path],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text("ascii") + key.read_text("ascii"), "ascii")
    return path
