"""A language model that writes when the test lets it: keywords at once, an answer sentence by sentence."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.generator.language_model import Served, answers_with, events, piece, served, streams_out
from tests.server.running import START_S

# What is asked: KOREAN of tests/generator/sample_index.py.
KEYWORDS = {"ko": ["간호사 회복탄력성", "이직 의도"], "en": ["resilience", "turnover"]}
WRONG = "98765"
ANSWER: dict[str, Any] = {
    "title": "회복탄력성과 이직",
    "introduction": [{"text": "신규 간호사의 회복탄력성과 이직 의도를 살핀 연구가 있다.", "citations": [1]}],
    "body": [
        {"text": "신규 간호사의 회복탄력성은 이직 의도와 연결된다.", "citations": [1]},
        {"text": f"회복탄력성이 높으면 이직 의도가 {WRONG}% 줄었다.", "citations": [1]},
    ],
    "conclusion": [{"text": "신규 간호사의 회복탄력성과 이직의도를 함께 보아야 한다.", "citations": [1, 2]}],
    "answered": True,
}


@dataclass
class Writer:
    """What the model answers; while `held` it stops behind each sentence until `go_on` is called."""

    base_url: str = ""
    answer: Any = field(default_factory=lambda: ANSWER)
    held: bool = False
    asked: set[str] = field(default_factory=set)  # the models of all calls
    steps: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    @property
    def settings(self) -> dict[str, object]:
        """Return the settings of a server that uses this model."""
        llm = {"base_url": self.base_url, "model": "tiny-writer", "allow_plain_http": "true", "retries": 0}
        llm["strategy_calls"] = "one"
        return {f"llm__{name}": value for name, value in llm.items()} | {"check__judge": "model"}

    def go_on(self, steps: int = 1) -> None:
        """Write one more sentence, or so many."""
        self.steps.release(steps)

    def write(self, handler: BaseHTTPRequestHandler) -> None:
        """Write the answer, or fail if there is none."""
        steps = self.steps  # of this test: another's answer takes none of the next one's
        if self.answer is None:
            answers_with("", status=500)(handler)
        elif not self.held:
            streams_out(*events(self.answer))(handler)
        else:
            first, *parts = json.dumps(self.answer, ensure_ascii=False).split('"citations"')
            pieces = [piece(first), *(piece(f'"citations"{part}') for part in parts)]
            sent = [*pieces, piece(finish_reason="stop")]
            in_steps = [each for one in sent for each in (lambda: steps.acquire(timeout=START_S), one)]
            streams_out(*in_steps, "[DONE]")(handler)


@contextmanager
def writing() -> Iterator[Writer]:
    """Run the model until the end of the block."""
    writer = Writer()
    model: Served

    def behave(handler: BaseHTTPRequestHandler) -> None:
        body = model.bodies[-1]
        form = json.dumps(body.get("response_format", body))
        writer.asked.add(body["model"])
        if '"judgements"' in form:
            streams_out(*events(_judgements(body["messages"][0]["content"])))(handler)
        elif '"years"' in json.dumps(body) and "conclusion" not in form:
            streams_out(*events(KEYWORDS))(handler)
        else:
            writer.write(handler)

    with served(behave) as model:
        writer.base_url = model.base_url
        yield writer


def _judgements(prompt: str) -> dict[str, Any]:
    """Judge the sentences of a prompt: one with a number that no paper has is unsupported."""
    judged = [
        {"sentence": int(number), "verdict": "unsupported" if WRONG in text else "supported", "why": ""}
        for number, text in re.findall(r'<sentence number="(\d+)">\n(.*)\n</sentence>', prompt)
    ]
    return {"judgements": judged}
