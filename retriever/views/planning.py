"""The strategy and the queries of a search before it runs, for a person to edit."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, computed_field

from base.notes import NoteCodes, note_codes
from base.records import Recordable
from retriever.index import SearchIndex
from retriever.queries.boolean import describe
from retriever.queries.keywords import ShownKeyword
from retriever.request import SearchRequest
from retriever.search import open_search, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.hits import PlannedQuery
from retriever.stages.stages import Stage
from retriever.strategy import Strategy


@dataclass(frozen=True, slots=True)
class ChosenKeywords(Recordable):
    """The strategy of a question, for editing, and the searched words of its keywords."""

    question: str
    strategy: Annotated[Strategy | None, Field(description="null if the method has none")]
    keywords: tuple[ShownKeyword, ...]
    notes: tuple[str, ...]

    @computed_field
    @property
    def note_codes(self) -> NoteCodes:
        """Code and values of the notes."""
        return note_codes(self.notes)


@dataclass(frozen=True, slots=True)
class PlannedSearch(ChosenKeywords):
    """The strategy and the queries of a question, for editing."""

    queries: tuple[PlannedQuery, ...]


def plan_search(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings, *, upto: Stage = "plan"
) -> ChosenKeywords:
    """Run the stages of a search before the engine is called; up to "plan" a PlannedSearch.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """
    context = open_search(index, request, settings)
    stages = run_stages(context, upto=upto)
    terms, notes = stages.terms, tuple(context.recorder.notes)
    strategy, keywords = (terms.strategy, terms.keywords) if terms else (None, ())
    if upto == "terms":
        return ChosenKeywords(request.question, strategy, keywords, notes)
    named = stages.plan.queries if stages.plan else ()
    queries = tuple(PlannedQuery(query.name, describe(query.query)) for query in named)
    return PlannedSearch(request.question, strategy, keywords, notes, queries)
