"""A server of a language model as vLLM answers it: models, version, and a chat answer of each schema."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.http_server import Handler, serving

# By the name of the schema that a request holds.
KEPT: dict[str, dict[str, Any]] = {
    "probe": {"season": "winter", "waves": "rough", "lines": ["salt", "wind"]},
    "keywords": {"ko": ["회복탄력성", "이직 의도"], "en": ["resilience", "turnover intention"]},
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

    A version of "refused" is told to nobody. `message` is its answer to whatever it is asked; without, it
    keeps to each schema.
    """
    gets: dict[str, Any] = {"/v1/models": {"data": [{"id": "tiny-writer", "max_model_len": max_model_len}]}}
    if version:
        gets["/version"] = {"version": version}

    def choice(asked: dict[str, Any]) -> dict[str, Any]:
        kept = KEPT[asked["response_format"]["json_schema"]["name"]]
        said = message or {"content": json.dumps(kept, ensure_ascii=False)}
        return {"index": 0, "message": {"role": "assistant"} | said, "finish_reason": finish_reason}

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
            self.answer(status, {"model": asked["model"], "choices": [choice(asked)]})

    with serving(Speaks) as url:
        model.base_url = f"{url}/v1"
        yield model
