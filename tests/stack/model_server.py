"""A server of a language model as vLLM answers it: models, version, and a chat answer of each schema."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# By the name of the schema that a request holds.
KEPT: dict[str, dict[str, Any]] = {
    "probe": {"season": "winter", "waves": "rough", "lines": ["salt", "wind"]},
    "keywords": {"korean": ["회복탄력성", "이직 의도"], "english": ["resilience", "turnover intention"]},
    "answer": {
        "title": "회복탄력성과 이직 의도",
        "introduction": [],
        "body": [{"text": "회복탄력성이 높은 간호사는 이직 의도가 18% 낮았다.", "citations": [1]}],
        "conclusion": [],
        "answered": True,
    },
}


@dataclass
class ModelServer:
    """Where it is, and what it was sent."""

    base_url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)


@contextmanager
def model_server(
    *,
    message: dict[str, Any] | None = None,
    finish_reason: str = "stop",
    status: int = 200,
    max_model_len: int = 16_384,
    version: str | None = "0.32.0",
    key: str | None = None,
) -> Iterator[ModelServer]:
    """Run a server on a free port of this machine; with `key` it wants that one.

    `message` is its answer to whatever it is asked; without, it keeps to each schema.
    """
    gets: dict[str, Any] = {"/v1/models": {"data": [{"id": "tiny-writer", "max_model_len": max_model_len}]}}
    if version:
        gets["/version"] = {"version": version}

    def choice(asked: dict[str, Any]) -> dict[str, Any]:
        kept = KEPT[asked["response_format"]["json_schema"]["name"]]
        said = message or {"content": json.dumps(kept, ensure_ascii=False)}
        return {"index": 0, "message": {"role": "assistant"} | said, "finish_reason": finish_reason}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            model.keys.add(self.headers["Authorization"])
            refused = key and self.path.startswith("/v1") and self.headers["Authorization"] != f"Bearer {key}"
            if refused:
                self._answer(401, {"error": "Unauthorized"})
            else:
                self._answer(200 if self.path in gets else 404, gets.get(self.path, {}))

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.bodies.append(asked)
            self._answer(status, {"model": asked["model"], "choices": [choice(asked)]})

        def _answer(self, code: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Keep the output of tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model = ModelServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
