"""A server of a language model as vLLM answers it: models, and a chat answer of each schema."""

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
    status: int = 200,
    max_model_len: int = 16_384,
    key: str | None = None,
) -> Iterator[ModelServer]:
    """Run a server on a free port; with `key` it requires that one.

    `message` is its answer to every call; without it, each schema is answered as the fixture model does.
    """
    gets: dict[str, Any] = {"/v1/models": {"data": [{"id": "tiny-writer", "max_model_len": max_model_len}]}}
    model = ModelServer("")

    class Speaks(Handler):
        def get(self) -> None:
            model.keys.add(self.headers["Authorization"])
            if key and self.headers["Authorization"] != f"Bearer {key}":
                self.answer(401, {"error": "Unauthorized"})
            else:
                self.answer(200 if self.path in gets else 404, gets.get(self.path, {}))

        def post(self) -> None:
            asked = self.asked()
            model.bodies.append(asked)
            said = message or {"content": json.dumps(reply_to(asked), ensure_ascii=False)}
            choice = {"index": 0, "message": {"role": "assistant"} | said, "finish_reason": "stop"}
            self.answer(status, {"model": asked["model"], "choices": [choice]})

    with serving(Speaks) as url:
        model.base_url = f"{url}/v1"
        yield model
