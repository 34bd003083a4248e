"""Questions that are asked again and again while something happens to an index."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Answered:
    """What one question was answered with; no edition where it was refused."""

    status: int
    editions: frozenset[int]


class Load:
    """Asks from several threads, with a connection for each question, until the end of a block."""

    def __init__(self, url: str, name: str) -> None:
        """Take where to ask, and which index."""
        self._url = f"{url}/api/v1/search"
        self._name = name
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(ASKING)]
        self._failures: list[BaseException] = []
        self.answers: list[Answered] = []

    def _ask(self) -> None:
        try:
            while not self._ends.wait(0.1):
                call = {"question": "quokka", "method": "or", "index": self._name}
                # Unverified, or each question would read all certificates of the machine first.
                answer = httpx.post(self._url, json=call, timeout=60, verify=False)
                hits = answer.json().get("hits", ())
                titles = [hit["title"] for hit in hits]
                editions = frozenset(int(title.split("edition")[1].removesuffix("x")) for title in titles)
                self.answers.append(Answered(answer.status_code, editions))
        except BaseException as error:  # noqa: BLE001 - raised again at the end
            self._failures.append(error)

    def __enter__(self) -> Self:
        """Begin to ask."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ask no more; raises what asking raised."""
        self._ends.set()
        for thread in self._threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    @property
    def mixed(self) -> int:
        """How many answers were of two versions."""
        return sum(len(answered.editions) > 1 for answered in self.answers)

    def editions(self) -> set[int]:
        """Return the editions that answered."""
        return set().union(*(answered.editions for answered in self.answers))

    def statuses(self) -> set[int]:
        """Return the statuses that were answered."""
        return {answered.status for answered in self.answers}

    def last(self, count: int) -> set[int]:
        """Return the editions of the last answers; none while there are fewer."""
        return set().union(*(answered.editions for answered in self._last(count)))

    def last_statuses(self, count: int) -> set[int]:
        """Return the statuses of the last answers."""
        return {answered.status for answered in self._last(count)}

    def _last(self, count: int) -> Sequence[Answered]:
        return self.answers[-count:] if len(self.answers) >= count else ()
