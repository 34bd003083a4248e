"""Names and descriptions of papers for programs that call tools, and the papers in scope of a call."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from server.mcp.tool import Argument
from server.source_names import as_index
from server.targets import CallTarget

MOST_RESULTS = 100  # a model reads them all
# Fields of a paper's record that are returned as metadata; the others are text, or not useful here.
KEPT = (
    *("authors", "author_count", "year", "journal"),
    *("publisher", "lang", "doi", "keywords", "cited_by_count"),
)
# Lets the model that calls the tools be the strategist.
STRATEGY = Argument(
    "strategy",
    "Your own search strategy; it decides what is found, so give one if you know the subject. `ko` and `en`: "
    "3 to 10 keywords in each language, most important first. Write both languages whatever the question's: "
    "translate each concept as papers in that language write it, and add synonyms, abbreviations and names. "
    "Use words of titles and abstracts, no question words. `exclude`: things that papers must not be about, "
    "each in both languages. `years`: first and last, null if open. If the results miss, call again with a "
    "better strategy. Without it statistics choose keywords, in `ask` the server's model if it has one. The "
    "strategy used is returned.",
)
# Arguments that limit a call to some papers.
AMONG_PAPERS = {
    "index": Argument("index", "Name of the index; an error lists the names."),
    "sources": Argument("sources", "Names of sources to search instead of an index; an error lists them."),
    **{name: Argument(name) for name in ("year", "lang", "journal")},
}


class NamedPaper(BaseModel):
    """A paper with its title, its address and its metadata."""

    id: Annotated[str, Field(description="argument of `fetch`")]
    title: str
    url: Annotated[str, Field(description="address of the paper for a reader; may be empty")]
    metadata: Annotated[dict[str, Any], Field(description="authors, year, journal, lang, doi … if known")]


def paper_id(of: CallTarget, doc_id: str) -> str:
    """Return an id that is unique among all indexes and sources: `INDEX:ID`, `source:NAME:ID`."""
    if len(of.sources) > 1:  # the id starts with the name of its source
        return as_index(doc_id)
    return f"{of.index or as_index(*of.sources)}:{doc_id}"


def metadata_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a paper."""
    return {name: record[name] for name in KEPT if record.get(name)}
