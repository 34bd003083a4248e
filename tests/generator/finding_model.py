"""A language model for the agents that find papers: it answers each by the name of its call."""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.generator.language_model import completion, says
from tests.http_server import Handler, serving

Answer = Callable[[str], Any]


def understanding(_: str) -> dict[str, Any]:
    """Widen a question into two queries."""
    years = {"first_year": None, "last_year": None, "recent": False}
    expansion = {"needs_expansion": True, "expansion_reason": "It is broad."}
    queries = ["battery pack safety barriers", "lithium-ion fire propagation"]
    sources = {"sources": [], "sources_reason": ""}
    return {"intent": "survey", "domain": "batteries", **years, **sources, **expansion, "queries": queries}


def query_writing(_: str) -> dict[str, Any]:
    """Name terms for an index."""
    return {"sources": [{"source": "index", "terms": ["thermal runaway", "cobalt"]}]}


def judgement(prompt: str) -> dict[str, Any]:
    """Find relevant what names a subject of the tests in its title."""
    title = value_of("title", prompt).lower()
    fits = any(word in title for word in ("thermal", "cobalt"))
    return {"reason": "Judged by its title.", "score": 0.9 if fits else 0.2}


def evolver(prompt: str) -> dict[str, Any]:
    """Make three queries of the paper's title."""
    title = value_of("title", prompt)
    kinds = {"method": "alternatives", "application": "vehicles", "limitation": "cost"}
    return {kind: f"{title} {word}" for kind, word in kinds.items()}


def reranking(prompt: str) -> dict[str, Any]:
    """Turn the order round."""
    numbers = range(1, len(re.findall(r"<paper number", prompt)) + 1)
    return {"papers": [{"paper": n, "score": n / 100, "why": f"It was {n}."} for n in numbers]}


ANSWERS: Mapping[str, Answer] = {
    "understanding": understanding,
    "query-writing": query_writing,
    "judgement": judgement,
    "evolver": evolver,
    "reranking": reranking,
}


def value_of(name: str, prompt: str) -> str:
    """Return what stands in a prompt between the tags of that name."""
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", prompt, re.DOTALL)
    return found[1] if found else ""


@dataclass
class FindingModel:
    """Answers as `ANSWERS` do, but for those `changed`; counts the calls by name."""

    changed: Mapping[str, Answer] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    prompts: list[str] = field(default_factory=list)

    @property
    def transport(self) -> httpx.MockTransport:
        """Return what stands in for the network."""
        return httpx.MockTransport(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/chat/completions"):
            return httpx.Response(404)
        return says(self.answer_to(json.loads(request.content)))

    def answer_to(self, body: Any) -> Any:
        """Answer a call."""
        name = body["response_format"]["json_schema"]["name"]
        prompt = body["messages"][0]["content"]
        self.calls[name] += 1
        self.prompts.append(prompt)
        return {**ANSWERS, **self.changed}[name](prompt)


@contextmanager
def serving_model(model: FindingModel) -> Iterator[dict[str, str]]:
    """Run a server for it, each answer on a thread of its own; yield the settings of who asks it."""
    counting = threading.Lock()

    class Answering(Handler):
        def post(self) -> None:
            body = self.asked()
            with counting:
                answer = model.answer_to(body)
            if callable(answer):  # it waits, apart from the others
                answer = answer()
            try:
                self.answer(200, completion(answer))
            except OSError:  # who asked has gone
                self.close_connection = True

    with serving(Answering) as url:
        yield {"llm__base_url": f"{url}/v1", "llm__model": "tiny-writer", "llm__stream": "false"}
