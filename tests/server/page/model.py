"""A language model that writes when the test lets it: keywords at once, an answer sentence by sentence."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.generator.language_model import Served, events, piece, served, streams_out, written
from tests.server.running import START_S

# What is asked: KOREAN of tests/generator/sample_index.py.
KEYWORDS = {"ko": ["간호사 회복탄력성", "이직 의도"], "en": ["resilience", "turnover"]}
ANSWER: dict[str, Any] = {
    "title": "회복탄력성과 이직",
    "introduction": [{"text": "신규 간호사의 회복탄력성과 이직 의도를 살핀 연구가 있다.", "citations": [1]}],
    "body": [
        {"text": "신규 간호사의 회복탄력성은 이직 의도와 연결된다.", "citations": [1]},
        {"text": "회복탄력성이 높으면 이직 의도가 98765% 줄었다.", "citations": [1]},
    ],
    "conclusion": [{"text": "신규 간호사의 회복탄력성과 이직의도를 함께 보아야 한다.", "citations": [1, 2]}],
    "answered": True,
}
ABSTAINED = {"title": "없음", "introduction": [], "body": [], "conclusion": [], "answered": False}


WRONG = "98765"


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
            handler.send_response(500)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        if not self.held:
            streams_out(*events(self.answer))(handler)
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in [*_sentences(self.answer), None]:
            if not steps.acquire(timeout=START_S):
                break
            sent = [piece(part)] if part else [piece(finish_reason="stop"), "[DONE]"]
            data = written(*sent)
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")


def _sentences(answer: dict[str, Any]) -> list[str]:
    """Cut the answer's JSON behind each sentence."""
    parts = json.dumps(answer, ensure_ascii=False).split('"citations"')
    return [part if not place else f'"citations"{part}' for place, part in enumerate(parts)]


@contextmanager
def writing() -> Iterator[Writer]:
    """Run the model until the end of the block."""
    writer = Writer()
    model: Served

    def behave(handler: BaseHTTPRequestHandler) -> None:
        writer.asked.add(model.bodies[-1]["model"])
        if '"years"' in json.dumps(model.bodies[-1]) and not _asks_for_answer(model.bodies[-1]):
            streams_out(*events(KEYWORDS))(handler)
        elif '"judgements"' in json.dumps(model.bodies[-1].get("response_format", {})):
            streams_out(*events(_judgements(model.bodies[-1]["messages"][0]["content"])))(handler)
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


def _asks_for_answer(body: dict[str, Any]) -> bool:
    return "conclusion" in json.dumps(body.get("response_format", body))
