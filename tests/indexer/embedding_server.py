"""A server of embeddings for tests: real HTTP, and vectors that can be written down.

A text's vector counts the words of VOCABULARY in it; the last number is 1 where there is none of them.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.http_server import Handler, serving

VOCABULARY = ("axolotl", "pangolin", "quokka", "도롱뇽", "salamander", "rice", "methane")


@dataclass
class Embeddings:
    """A running server: where it is, the texts that it was sent, and how many more it will encode."""

    base_url: str
    texts: list[str] = field(default_factory=list)
    left: float = float("inf")
    refused: int = 0

    def settings(self, **changed: object) -> dict[str, object]:
        return {"provider": "endpoint", "base_url": self.base_url, "model": "word-counts"} | changed


def vector_of(text: str) -> list[float]:
    words = Counter(text.replace(".", " ").split())
    counts = [float(words[word]) for word in VOCABULARY]
    return [*counts, 0.0 if any(counts) else 1.0]


@contextmanager
def embedding_server() -> Iterator[Embeddings]:
    server = Embeddings("")

    class Encodes(Handler):
        def post(self) -> None:
            asked = self.asked()
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            if len(texts) > server.left:
                server.refused += 1
                self.answer(400, {"error": {"message": "no more"}})
                return
            server.left -= len(texts)
            server.texts += texts
            data = [{"index": place, "embedding": vector_of(text)} for place, text in enumerate(texts)]
            self.answer(200, {"object": "list", "data": data, "model": asked["model"]})

    with serving(Encodes) as url:
        server.base_url = f"{url}/v1"
        yield server
