"""Names and descriptions of papers for programs that call tools, and the papers in scope of a call."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from server.calls.asked_of import AskedOf
from server.mcp.tool import Arguments
from server.source_names import as_index

MOST_RESULTS = 100  # a model reads them all
# Fields of a paper's record that are returned as metadata; the others are text, or not useful here.
KEPT = (
    *("authors", "author_count", "year", "journal"),
    *("publisher", "lang", "doi", "keywords", "cited_by_count"),
)


class AmongPapers(Arguments):
    """The papers that a call covers."""

    index: Annotated[str | None, Field(description="name of the index; an error lists the names")] = None
    sources: Annotated[
        tuple[str, ...] | None,
        Field(description="names of sources to search instead of an index; an error lists them"),
    ] = None
    year: Annotated[str | None, Field(description="of publication: 2019, 2019..2024, ..2024 or 2019..")] = (
        None
    )
    lang: Annotated[str | None, Field(description="language of the passage: ko, en or other")] = None
    journal: Annotated[str | None, Field(description="exact name of the journal")] = None

    def filters(self) -> dict[str, Any]:
        """Return the filters, as calls of the API name them."""
        return {name: getattr(self, name) or None for name in ("year", "lang", "journal")}


class NamedPaper(BaseModel):
    """A paper with its title, its address and its metadata."""

    id: Annotated[str, Field(description="argument of `fetch`")]
    title: str
    url: Annotated[str, Field(description="address of the paper for a reader; may be empty")]
    metadata: Annotated[dict[str, Any], Field(description="authors, year, journal, lang, doi … if known")]


def paper_id(of: AskedOf, doc_id: str) -> str:
    """Return an id that is unique among all indexes and sources: `INDEX:ID`, `source:NAME:ID`."""
    if len(of.sources) > 1:  # the id starts with the name of its source
        return as_index(doc_id)
    return f"{of.index or as_index(*of.sources)}:{doc_id}"


def metadata_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a paper."""
    return {name: record[name] for name in KEPT if record.get(name)}
