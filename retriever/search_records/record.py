"""The record of a search, to repeat it or to report it in a review.

It contains the items that PRISMA-S (Rethlefsen et al. 2021) requires for a search in a database: platform and
version, the index and its state, the date, the strategy, each query as sent with its number of hits, limits,
and the duplicates left out. A repeated search replays the strategy, so it needs no language model.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from base.errors import InvalidCall
from base.terminal.output import json_text
from base.versions import installed_version
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR
from indexer.versions.manifest import Manifest
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.stages.hits import SearchResult
from retriever.strategy import Strategy

RECORD_VERSION = 1
# Settings of a search by their names in `applied`.
SETTINGS = {"keyword_count": "keywords"} | {
    name: name for name in ("hits_per_query", "without", "rerank_depth", "drop_incomplete")
}
INDEX = ("name", "version", "engine", "papers", "passages", "published", "fingerprint", "vectors")
RESULT = "strategy", "keywords", "queries", "filtered", "applied", "notes", "likelihood", "unknown_words"
HIT = {"rank", "doc_id", "passage_id", "score", "title", "year"}


class _Index(BaseModel):
    name: str
    version: int
    fingerprint: dict[str, str]


class _Hit(BaseModel):
    rank: int
    doc_id: str
    title: str = ""


class _Query(BaseModel):
    name: str
    query: str
    hits: int


class _Applied(BaseModel):
    model_config = ConfigDict(extra="allow")

    title_weight: float | None = Field(ge=0, le=10)
    strategist: str | None


class _Whole(BaseModel):
    """The required keys of a record; a record contains more."""

    search_record: Literal[1]
    date: str
    shrag: str
    index: _Index
    request: dict[str, Any]
    applied: _Applied
    strategy: dict[str, Any] | None
    queries: list[_Query]
    hits: list[_Hit]
    filtered: dict[str, int]


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """The record of a search; `record` is the content of `--record FILE.json`."""

    record: dict[str, Any]

    @property
    def index_name(self) -> str:
        """The index that was searched."""
        name: str = self.record["index"]["name"]
        return name

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
        request: SearchRequest = _request_adapter().validate_json(json_text(self.record["request"]))
        used, weight = self.strategy, self.record["applied"]["title_weight"]
        if used is not None and used.origin != "statistics":
            given = Strategy().excluding(request.exclude).exclude  # the request adds them again
            kept = [excluded for excluded in used.exclude if excluded not in given]
            request = replace(request, strategy=used.changed(exclude=kept))
        return request if weight is None else replace(request, title_weight=float(weight))

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
    def checked(cls, record: Any, source: str) -> "SearchRecord":
        """Check and take a record; InvalidCall, which names the source, if it is incomplete."""
        if not isinstance(record, dict) or "search_record" not in record:
            raise InvalidCall(f"{source} contains no record of a search")
        try:
            _Whole.model_validate(record, strict=True)
            loaded = cls(record)
            _check(loaded.request)
            loaded.settings()
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise InvalidCall(
                f"{source} contains no complete record of a search: {place}: {first['msg']}"
            ) from None
        return loaded


def search_record(manifest: Manifest, request: SearchRequest, result: SearchResult) -> SearchRecord:
    """Make the record of a search of the manifest's version, with the current time."""
    found = result.as_record()
    return SearchRecord(
        {
            "search_record": RECORD_VERSION,
            "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "shrag": installed_version("shrag"),
            "index": {name: getattr(manifest, name) for name in INDEX},
            "request": _request_adapter().dump_python(request, mode="json"),
            **{name: found[name] for name in RESULT},
            "found": len(result.listed),
            "hits": [
                {name: value for name, value in hit.as_record().items() if name in HIT}
                for hit in result.listed
            ],
        }
    )


@cache
def _request_adapter() -> TypeAdapter[SearchRequest]:
    return TypeAdapter(SearchRequest)


def _check(request: SearchRequest) -> None:
    """Check the values that the front ends check; raises InvalidCall."""
    years = request.filters.years
    bounds = [year for year in (years.low, years.high) if year is not None] if years else []
    if years and not bounds:
        raise InvalidCall("the record filters by years without a first or a last one")
    if any(not FIRST_YEAR <= year <= LAST_YEAR for year in bounds):
        raise InvalidCall(f"the record filters by years outside {FIRST_YEAR} to {LAST_YEAR}")
    Strategy.of_person(request.keywords or ()).excluding(request.exclude)
