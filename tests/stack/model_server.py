"""A server of a language model as vLLM answers it: models, version, and a chat answer of each schema."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fixture_model import reply_to
from tests.http_server import Handler, serving


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
    """Run a server on a free port; with `key` it requires that one; a version "refused" is not given.

    `message` is its answer to every call; without it, each schema is answered as the fixture model does.
    """
    gets: dict[str, Any] = {"/v1/models": {"data": [{"id": "tiny-writer", "max_model_len": max_model_len}]}}
    if version:
        gets["/version"] = {"version": version}
    model = ModelServer("")

    class Speaks(Handler):
        def get(self) -> None:
            model.keys.add(self.headers["Authorization"])
            refused = key and self.path.startswith("/v1") and self.headers["Authorization"] != f"Bearer {key}"
            if refused or (self.path == "/version" and version == "refused"):
                self.answer(401, {"error": "Unauthorized"})
            else:
                self.answer(200 if self.path in gets else 404, gets.get(self.path, {}))

        def post(self) -> None:
            asked = self.asked()
            model.bodies.append(asked)
            said = message or {"content": json.dumps(reply_to(asked), ensure_ascii=False)}
            choice = {"index": 0, "message": {"role": "assistant"} | said, "finish_reason": finish_reason}
            self.answer(status, {"model": asked["model"], "choices": [choice]})

    with serving(Speaks) as url:
        model.base_url = f"{url}/v1"
        yield model
