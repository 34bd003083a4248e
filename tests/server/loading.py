"""Questions that are asked again and again while something happens to an index."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import httpx

from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from tests.indexer.made_corpora import write_jsonl

PAPERS = 5
ASKING = 3  # at once


def publish_edition(settings: IndexerSettings, name: str, edition: int) -> None:
    """Publish a version in which every paper names the edition."""
    titles = [f"quokka edition{edition}x"] * PAPERS
    records = [{"id": f"P{place}", "title": title, "abstract": title} for place, title in enumerate(titles)]
    settings.home.mkdir(exist_ok=True)
    corpus = write_jsonl(settings.home.parent / f"{name}-{edition}.jsonl", records)
    build_index(IngestRequest(name, [str(corpus)], rebuild=True), settings)


class Load:
    """Asks from several threads, with a connection for each question, until the end of a block."""

    def __init__(self, url: str, name: str) -> None:
        """Take where to ask, and which index."""
        self._url, self._name = f"{url}/api/v1/search", name
        self._ends = threading.Event()
        self._threads = ThreadPoolExecutor(ASKING)
        self.answers: list[tuple[int, frozenset[int]]] = []  # the status, and the editions of the hits

    def _ask(self) -> None:
        call = {"question": "quokka", "method": "or", "index": self._name}
        while not self._ends.wait(0.1):
            # Unverified, or each question would read all certificates of the machine first.
            answer = httpx.post(self._url, json=call, timeout=60, verify=False)
            titles = [hit["title"] for hit in answer.json().get("hits", ())]
            editions = frozenset(int(title.split("edition")[1].removesuffix("x")) for title in titles)
            self.answers.append((answer.status_code, editions))

    def __enter__(self) -> Self:
        """Begin to ask."""
        self._asking = [self._threads.submit(self._ask) for _ in range(ASKING)]
        return self

    def __exit__(self, *_: object) -> None:
        """Ask no more; raises what asking raised."""
        self._ends.set()
        self._threads.shutdown()
        for asking in self._asking:
            asking.result()

    @property
    def mixed(self) -> int:
        """How many answers were of two versions."""
        return sum(len(editions) > 1 for _, editions in self.answers)

    def editions(self, last: int = 0) -> set[int]:
        """Return the editions of the last answers, or of all; none while there are fewer."""
        return set().union(*(editions for _, editions in self._last(last)))

    def statuses(self, last: int = 0) -> set[int]:
        """Return the statuses of the last answers, or of all; none while there are fewer."""
        return {status for status, _ in self._last(last)}

    def _last(self, count: int) -> list[tuple[int, frozenset[int]]]:
        return self.answers[-count:] if len(self.answers) >= count else []
