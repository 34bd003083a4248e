"""How papers are named and described to the programs that call tools."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from server.sources.as_index import as_index
from server.sources.asked_of import AskedOf

# Of a paper's record, what goes with it as metadata; the rest is text, or of use to nobody here.
KEPT = (
    *("authors", "author_count", "year", "journal"),
    *("publisher", "lang", "doi", "keywords", "cited_by_count"),
)


class FoundPaper(BaseModel):
    """A paper that a search has found."""

    id: Annotated[str, Field(description="what `fetch` is called with")]
    title: str
    url: Annotated[str, Field(description="where a reader finds the paper, at the passage found")]
    text: Annotated[str, Field(description="the part of the passage that the question's words stand in")]
    metadata: Annotated[dict[str, Any], Field(description="authors, year, journal, lang, doi … if known")]


def paper_id(of: AskedOf, doc_id: str) -> str:
    """Name a paper among those of all indexes and sources: `INDEX:ID`, `source:NAME:ID`."""
    if len(of.sources) > 1:  # the id begins with the name of its own
        return as_index(doc_id)
    return f"{of.index or as_index(*of.sources)}:{doc_id}"


def metadata_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a paper beside its text."""
    return {name: record[name] for name in KEPT if record.get(name)}
