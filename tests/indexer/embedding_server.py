"""A server of embeddings for tests: real HTTP, and vectors that can be written down.

A text's vector counts the words of VOCABULARY in it; the last number is 1 where there is none of them.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VOCABULARY = ("axolotl", "pangolin", "quokka", "도롱뇽", "salamander", "rice", "methane")


@dataclass
class Embeddings:
    """A running server: where it is, the texts that it was sent, and how many more it will encode."""

    base_url: str
    texts: list[str] = field(default_factory=list)
    left: float = float("inf")
    refused: int = 0

    def settings(self, **changed: object) -> dict[str, object]:
        """Return the settings of an encoder that asks this server."""
        return {"provider": "endpoint", "base_url": self.base_url, "model": "word-counts"} | changed


def vector_of(text: str) -> list[float]:
    """Return the counts of the vocabulary's words."""
    words = Counter(text.replace(".", " ").split())
    counts = [float(words[word]) for word in VOCABULARY]
    return [*counts, 0.0 if any(counts) else 1.0]


@contextmanager
def embedding_server() -> Iterator[Embeddings]:
    """Run the server until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            if len(texts) > server.left:
                server.refused += 1
                self._answer(400, {"error": {"message": "no more"}})
                return
            server.left -= len(texts)
            server.texts += texts
            data = [{"index": place, "embedding": vector_of(text)} for place, text in enumerate(texts)]
            self._answer(200, {"object": "list", "data": data, "model": asked["model"]})

        def _answer(self, status: int, body: dict[str, object]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep the output of tests clean."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Embeddings(f"http://127.0.0.1:{http.server_address[1]}/v1")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
