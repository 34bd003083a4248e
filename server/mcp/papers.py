"""How papers are named and described to the programs that call tools."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

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


def paper_id(index: str, doc_id: str) -> str:
    """Name a paper among those of all indexes."""
    return f"{index}:{doc_id}"


def metadata_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a paper beside its text."""
    return {name: record[name] for name in KEPT if record.get(name)}
