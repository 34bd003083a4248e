"""The record of a search, to repeat it or to report it in a review.

It contains the items that PRISMA-S (Rethlefsen et al. 2021) requires for a search in a database: platform and
version, the index and its state, the date, the strategy, each query as sent with its number of hits, limits,
and the duplicates left out. A repeated search replays the strategy, so it needs no language model.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError, computed_field

from base.errors import InvalidCall, UnknownPath
from base.files.regular_files import read_regular
from base.records import Recordable, adapter
from base.terminal.output import json_text
from base.untrusted import one_line, read_json
from base.versions import installed_version
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, why_invalid
from indexer.versions.manifest import Manifest
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.stages.hits import SearchResult
from retriever.strategy import Strategy

RECORD_VERSION = 1
MOST_TITLE_WEIGHT = 10
MOST_BYTES = 16_000_000  # of a record; one with 1,000 hits has about 200,000
# Settings of a search by their names in `applied`.
SETTINGS = {"keyword_count": "keywords"} | {
    name: name for name in ("hits_per_query", "without", "rerank_depth", "drop_incomplete")
}
INDEX = ("name", "version", "engine", "papers", "passages", "published", "fingerprint", "vectors")
RESULT = "strategy", "keywords", "queries", "filtered", "applied", "notes", "likelihood", "unknown_words"
# Keys of the index that affect the hits.
INDEX_STATE = ("name", "version", "engine", "papers", "passages", "vectors")
HIT = "rank", "passage_id", "doc_id", "score", "title", "year"


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """The record of a search; `record` is the content of `--record FILE.json`."""

    record: dict[str, Any]

    @property
    def strategy(self) -> Strategy | None:
        """The strategy that was used; None if the method has none."""
        used = self.record["strategy"]
        return None if used is None else Strategy.model_validate(used)

    @property
    def request(self) -> SearchRequest:
        """The request, with the strategy and the title weight that took effect.

        A strategy from statistics is not replayed: the index gives the same one again.
        """
        request: SearchRequest = adapter(SearchRequest).validate_json(json_text(self.record["request"]))
        used, weight = self.strategy, self.record["applied"]["title_weight"]
        if used is not None and used.origin != "statistics":
            given = Strategy().excluding(request.exclude).exclude  # the request adds them again
            kept = [excluded for excluded in used.exclude if excluded not in given]
            request = replace(request, strategy=used.changed(exclude=kept))
        return request if weight is None else replace(request, title_weight=float(weight))

    @property
    def index(self) -> str:
        """The name of the index."""
        return str(self.record["index"]["name"])

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the papers found, by doc_id, in the order of the hits."""
        return {hit["doc_id"]: hit.get("title", "") for hit in self.record["hits"]}

    def settings(self) -> RetrieverSettings:
        """Return the current settings, updated with the recorded ones."""
        applied = self.record["applied"]
        then = {name: applied[key] for key, name in SETTINGS.items() if applied.get(key) is not None}
        return RetrieverSettings(**then)

    @classmethod
    def load(cls, path: Path) -> "SearchRecord":
        """Read a record that was saved as JSON.

        Raises:
            UnknownPath: no such file.
            InvalidCall: it cannot be read, or contains no complete record of a valid search.
        """
        try:
            record = read_json(read_regular(path, MOST_BYTES))
        except FileNotFoundError:
            raise UnknownPath(f"there is no file {path}") from None
        except OSError as error:
            raise InvalidCall(f"{path} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise InvalidCall(f"{path} is not JSON: {error}") from None
        return cls.checked(record, str(path))

    @classmethod
    def checked(cls, record: Any, source: str) -> "SearchRecord":
        """Check and take a record; InvalidCall, which names the source, if it is incomplete."""
        if not isinstance(record, dict) or record.get("search_record") != RECORD_VERSION:
            raise InvalidCall(f"{source} contains no record of a search")
        loaded = cls(record)
        try:
            _check(loaded.request)
            loaded.settings()
            compare(loaded, loaded)  # reads all that a repetition needs
        except ValidationError as error:
            why = why_invalid(error)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            why = one_line(f"{type(error).__name__}: {error}")
        else:
            return loaded
        raise InvalidCall(f"{source} contains no complete record of a search: {why}")

    def as_json(self) -> bytes:
        """Return the file of the record."""
        return (json_text(self.record, indent=1) + "\n").encode()


def now() -> str:
    """Return the current time in the form of records."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def search_record(manifest: Manifest, request: SearchRequest, result: SearchResult) -> SearchRecord:
    """Make the record of a search of the manifest's version, with the current time."""
    found, listed = result.as_record(), [hit.as_record() for hit in result.listed]
    return SearchRecord(
        {
            "search_record": RECORD_VERSION,
            "date": now(),
            "shrag": installed_version("shrag"),
            "index": {name: getattr(manifest, name) for name in INDEX},
            "request": adapter(SearchRequest).dump_python(request, mode="json"),
            **{name: found[name] for name in RESULT},
            "found": len(listed),
            "hits": [{name: hit[name] for name in HIT if name in hit} for hit in listed],
        }
    )


def _check(request: SearchRequest) -> None:
    """Check the values that the front ends check; raises InvalidCall."""
    years = request.filters.years
    bounds = [year for year in (years.low, years.high) if year is not None] if years else []
    if years and not bounds:
        raise InvalidCall("the record filters by years without a first or a last one")
    if any(not FIRST_YEAR <= year <= LAST_YEAR for year in bounds):
        raise InvalidCall(f"the record filters by years outside {FIRST_YEAR} to {LAST_YEAR}")
    if not 0 <= (request.title_weight or 0) <= MOST_TITLE_WEIGHT:
        raise InvalidCall("the record's title weight is not between 0 and 10")
    Strategy.of_person(request.keywords or ()).excluding(request.exclude)


@dataclass(frozen=True, slots=True)
class TitledPaper:
    """A paper by id and title."""

    doc_id: str
    title: str


@dataclass(frozen=True, slots=True)
class MovedPaper:
    """A paper whose rank changed."""

    doc_id: str
    then: int
    now: int


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A change of the index, the settings or the queries."""

    what: str
    then: Any
    now: Any


@dataclass(frozen=True, slots=True)
class Comparison(Recordable):
    """Whether a repeated search found the same papers in the same order."""

    found: int
    came: tuple[TitledPaper, ...]
    went: tuple[TitledPaper, ...]
    moved: tuple[MovedPaper, ...]
    changed: tuple[ChangedValue, ...]

    @computed_field
    @property
    def same(self) -> bool:
        """Whether the same papers were found in the same order."""
        return not (self.came or self.went or self.moved)


def compare(then: SearchRecord, now: SearchRecord) -> Comparison:
    """Compare the hits of two searches; a paper has moved if its place among the common papers differs."""
    before, after = then.titles, now.titles
    ranks = [{doc_id: rank for rank, doc_id in enumerate(titles, 1)} for titles in (before, after)]
    stayed = [doc_id for doc_id in before if doc_id in after], [name for name in after if name in before]
    return Comparison(
        found=len(after),
        came=tuple(TitledPaper(doc_id, title) for doc_id, title in after.items() if doc_id not in before),
        went=tuple(TitledPaper(doc_id, title) for doc_id, title in before.items() if doc_id not in after),
        moved=tuple(
            MovedPaper(doc_id, ranks[0][doc_id], ranks[1][doc_id])
            for other, doc_id in zip(*stayed, strict=True)
            if other != doc_id
        ),
        changed=tuple(_changed(then.record, now.record)),
    )


def _changed(then: dict[str, Any], now: dict[str, Any]) -> Iterator[ChangedValue]:
    before, after = ({each["name"]: each["query"] for each in record["queries"]} for record in (then, now))
    old, new = ({name: record["index"].get(name) for name in INDEX_STATE} for record in (then, now))
    if then["shrag"] != now["shrag"]:
        yield ChangedValue("shrag", then["shrag"], now["shrag"])
    for part, first, second in (
        ("index", old, new),
        ("fingerprint", then["index"]["fingerprint"], now["index"]["fingerprint"]),
        ("applied", then["applied"], now["applied"]),
        ("query", before, after),
    ):
        for key in dict.fromkeys([*first, *second]):
            if first.get(key) != second.get(key):
                yield ChangedValue(f"{part} {key}", first.get(key), second.get(key))
