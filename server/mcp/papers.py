"""How papers are named and described to the programs that call tools, and which of them a call is about."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from server.calls.asked_of import AskedOf
from server.mcp.tool import Arguments
from server.source_names import as_index

MOST_RESULTS = 100  # a model reads them all
# Of a paper's record, what goes with it as metadata; the rest is text, or of use to nobody here.
KEPT = (
    *("authors", "author_count", "year", "journal"),
    *("publisher", "lang", "doi", "keywords", "cited_by_count"),
)


class AmongPapers(Arguments):
    """Among which papers something is looked for."""

    index: Annotated[str | None, Field(description="its name; an error lists those there are")] = None
    sources: Annotated[
        tuple[str, ...] | None,
        Field(description="names of sources, asked instead of an index; an error lists them"),
    ] = None
    year: Annotated[str | None, Field(description="of publication: 2019, 2019..2024, ..2024 or 2019..")] = (
        None
    )
    lang: Annotated[str | None, Field(description="language of the passage: ko, en or other")] = None
    journal: Annotated[str | None, Field(description="the journal's name, exactly")] = None

    def filters(self) -> dict[str, Any]:
        """Return by what papers are left out, as calls of the API name it."""
        return {name: getattr(self, name) or None for name in ("year", "lang", "journal")}


class NamedPaper(BaseModel):
    """A paper by its name, its address and what is known of it."""

    id: Annotated[str, Field(description="what `fetch` is called with")]
    title: str
    url: Annotated[str, Field(description="where a reader finds the paper; empty where nowhere")]
    metadata: Annotated[dict[str, Any], Field(description="authors, year, journal, lang, doi … if known")]


def paper_id(of: AskedOf, doc_id: str) -> str:
    """Name a paper among those of all indexes and sources: `INDEX:ID`, `source:NAME:ID`."""
    if len(of.sources) > 1:  # the id begins with the name of its own
        return as_index(doc_id)
    return f"{of.index or as_index(*of.sources)}:{doc_id}"


def metadata_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a paper beside its text."""
    return {name: record[name] for name in KEPT if record.get(name)}
