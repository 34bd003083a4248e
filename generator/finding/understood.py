"""Understanding of a question before the search."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR
from retriever.queries.boolean import Range

Intent = Literal["survey", "recent", "comparison", "specific", "other"]
Year = Annotated[int, Field(ge=FIRST_YEAR, le=LAST_YEAR)]


@dataclass(frozen=True, slots=True)
class Understanding:
    """The interpretation of a question: intent, domain, time requirement, sources and queries.

    `first_year` and `last_year` limit the papers, null is open; `recent` requests new papers without naming
    years. `sources` are the names of the sources to search, all if empty.
    """

    intent: Intent = "other"
    domain: str = ""
    first_year: Year | None = None
    last_year: Year | None = None
    recent: bool = False
    sources: tuple[str, ...] = ()
    sources_reason: str = ""
    expands: bool = False
    expansion_reason: str = ""
    queries: tuple[str, ...] = ()
    by: Annotated[str, Field(description="model or rules")] = "rules"
    notes: tuple[str, ...] = ()

    @property
    def years(self) -> Range | None:
        """Range of years; None without a limit."""
        bounds = self.first_year, self.last_year
        return None if bounds == (None, None) else Range(*bounds)

    @property
    def asks_for_time(self) -> bool:
        """Whether the question asks for papers of certain years, or for new papers."""
        return self.recent or self.years is not None
