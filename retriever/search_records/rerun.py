"""Comparison of a repeated search with its record, and possible reasons for differences."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import computed_field

from base.amounts import counted
from base.records import INTERNAL, Recordable
from base.terminal.output import json_text
from retriever.search_records.record import SearchRecord

SHOWN_CHARACTERS = 80  # of a value that changed
# Keys of the index that affect the hits.
INDEX_STATE = ("name", "version", "engine", "papers", "passages", "vectors")


@dataclass(frozen=True, slots=True)
class TitledPaper:
    """A paper by id and title."""

    doc_id: str
    title: str


@dataclass(frozen=True, slots=True)
class MovedPaper:
    """A paper whose rank changed."""

    doc_id: str
    title: Annotated[str, INTERNAL]
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
    stayed = [
        [doc_id for doc_id in titles if doc_id in before and doc_id in after] for titles in (before, after)
    ]
    ranks = [{doc_id: rank for rank, doc_id in enumerate(titles, 1)} for titles in (before, after)]
    return Comparison(
        found=len(after),
        came=tuple(TitledPaper(doc_id, title) for doc_id, title in after.items() if doc_id not in before),
        went=tuple(TitledPaper(doc_id, title) for doc_id, title in before.items() if doc_id not in after),
        moved=tuple(
            MovedPaper(doc_id, after[doc_id], ranks[0][doc_id], ranks[1][doc_id])
            for place, doc_id in enumerate(stayed[1])
            if stayed[0][place] != doc_id
        ),
        changed=tuple(_changed(then.record, now.record)),
    )


def comparison_lines(found: Comparison) -> Iterator[str]:
    """Yield lines for a person: papers that came, went or moved, and changes; or that all is the same."""
    if found.same:
        yield f"the same {counted(found.found, 'hit')}, in the same order"
    yield from (f"came   {paper.doc_id}  {paper.title}" for paper in found.came)
    yield from (f"went   {paper.doc_id}  {paper.title}" for paper in found.went)
    yield from (f"moved  {paper.doc_id}  from {paper.then} to {paper.now}" for paper in found.moved)
    for change in found.changed:
        yield f"{change.what}: {_short(change.then)}, now {_short(change.now)}"


def _short(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


def _changed(then: dict[str, Any], now: dict[str, Any]) -> Iterator[ChangedValue]:
    pairs = [("shrag", then["shrag"], now["shrag"])]
    pairs += [(f"index {key}", then["index"].get(key), now["index"].get(key)) for key in INDEX_STATE]
    for part in ("fingerprint", "applied"):
        first, second = (record["index"] if part == "fingerprint" else record for record in (then, now))
        keys = dict.fromkeys([*first[part], *second[part]])
        pairs += [(f"{part} {key}", first[part].get(key), second[part].get(key)) for key in keys]
    queries = [{query["name"]: query["query"] for query in record["queries"]} for record in (then, now)]
    names = dict.fromkeys([*queries[0], *queries[1]])
    pairs += [(f"query {name}", queries[0].get(name), queries[1].get(name)) for name in names]
    return (ChangedValue(what, first, second) for what, first, second in pairs if first != second)
