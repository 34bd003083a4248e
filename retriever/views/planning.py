"""The keywords and queries of a search before it runs, for a person to edit."""

from dataclasses import dataclass

from base.records import Recordable
from retriever.constraints.parsing import Constraints, ShownConstraints
from retriever.index import OpenIndex, SearchIndex
from retriever.queries.boolean import describe
from retriever.queries.keywords import ShownKeyword
from retriever.requests.request import SearchRequest
from retriever.search import Stages, open_search, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.hits import PlannedQuery
from retriever.stages.stages import Stage


@dataclass(frozen=True, slots=True)
class ChosenKeywords(Recordable):
    """The keywords of a question, for editing."""

    question: str
    keywords: tuple[ShownKeyword, ...]
    constraints: ShownConstraints
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedSearch(ChosenKeywords):
    """The keywords and queries of a question, for editing."""

    queries: tuple[PlannedQuery, ...]


async def plan_search(
    index: OpenIndex, request: SearchRequest, settings: RetrieverSettings, *, upto: Stage = "plan"
) -> ChosenKeywords:
    """Run the stages of a search before the engine is called; up to "plan" a PlannedSearch.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """

    async def of_version(version: SearchIndex) -> ChosenKeywords:
        context = open_search(version, request, settings)
        stages = await run_stages(context, Stages(), upto=upto)
        chosen = ChosenKeywords(
            request.question,
            stages.keywords.keywords if stages.keywords else (),
            stages.question.constraints if stages.question else Constraints(),
            tuple(context.recorder.notes),
        )
        if upto == "keywords":
            return chosen
        named = stages.plan.queries if stages.plan else ()
        queries = tuple(PlannedQuery(query.name, describe(query.query)) for query in named)
        return PlannedSearch(chosen.question, chosen.keywords, chosen.constraints, chosen.notes, queries)

    return await index.ask(of_version)
