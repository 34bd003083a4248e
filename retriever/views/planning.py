"""The keywords and queries of a search before it runs, for a person to edit."""

from dataclasses import dataclass
from typing import Any

from retriever.constraints.parsing import Constraints
from retriever.index import OpenIndex, SearchIndex
from retriever.queries.boolean import describe
from retriever.queries.keywords import Keyword
from retriever.requests.request import SearchRequest
from retriever.search import Stages, open_search, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.stages import Stage


@dataclass(frozen=True, slots=True)
class PlannedSearch:
    """The keywords of a question, and its queries by name as a person would type them."""

    keywords: tuple[Keyword, ...]
    queries: tuple[tuple[str, str], ...]
    constraints: Constraints
    notes: tuple[str, ...]

    def as_record(self) -> dict[str, Any]:
        """Return the plan as JSON, in the form of a search's result."""
        return {
            "keywords": [keyword.as_record() for keyword in self.keywords],
            "queries": [{"name": name, "query": query} for name, query in self.queries],
            "constraints": self.constraints.as_record(),
            "notes": list(self.notes),
        }


async def plan_search(
    index: OpenIndex, request: SearchRequest, settings: RetrieverSettings, *, upto: Stage = "plan"
) -> PlannedSearch:
    """Run the stages of a search before the engine is called; with "keywords", without the queries.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """

    async def of_version(version: SearchIndex) -> PlannedSearch:
        context = open_search(version, request, settings)
        stages = await run_stages(context, Stages(), upto=upto)
        named = stages.plan.queries if stages.plan else ()
        return PlannedSearch(
            stages.keywords.keywords if stages.keywords else (),
            tuple((query.name, describe(query.query)) for query in named),
            stages.question.constraints if stages.question else Constraints(),
            tuple(context.recorder.notes),
        )

    return await index.ask(of_version)
