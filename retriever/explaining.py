"""Why a passage has its rank: BM25 term by term, and the features of method `shrag`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from unicodedata import normalize

from retriever.engines import Explanation
from retriever.errors import UnknownPassage
from retriever.index import OpenIndex, SearchIndex
from retriever.plan import question_query
from retriever.queries import Query
from retriever.ranking import Ranking
from retriever.search import SearchRequest, Stages, open_search, present, run_stages
from retriever.settings import RetrieverSettings

DEPTH = 100


@dataclass(frozen=True, slots=True)
class Account:
    """What a passage's rank depends on; `features` maps a name to its value and weight.

    The rank is its paper's among those that a search shows, by the passage `shown`; None and "" where it
    shows nothing of the paper.
    """

    passage_id: str
    title: str
    method: str
    rank: int | None
    shown: str
    explanation: Explanation
    reranker: str = ""  # that ordered the first hits anew
    features: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """Say in one line which rank the passage has."""
        if self.rank is None:
            return f"not among the first {DEPTH} by method {self.method}"
        again = f", read again by {self.reranker}" if self.reranker else ""
        other = f"; the paper is shown by {self.shown}" if self.shown != self.passage_id else ""
        return f"rank {self.rank} by method {self.method}{again}{other}"

    def as_record(self) -> dict[str, Any]:
        """Return the account as JSON."""
        return {
            "passage_id": self.passage_id,
            "method": self.method,
            "rank": self.rank,
            "shown": self.shown,
            "score": self.explanation.score,
            "reranker": self.reranker,
            "terms": [asdict(term) for term in self.explanation.terms],
            "features": {
                name: {"value": value, "weight": weight} for name, (value, weight) in self.features.items()
            },
        }


async def explain(
    index: OpenIndex, request: SearchRequest, passage_id: str, settings: RetrieverSettings
) -> Account:
    """Explain the rank of one passage's paper among the first hundred, as `search` gives it.

    Raises:
        UnknownPassage: no passage of that id in the index.
    """
    passage_id = normalize("NFC", passage_id)  # as ids are
    return await index.ask(lambda version: _explain(version, request, passage_id, settings))


async def _explain(
    index: SearchIndex, request: SearchRequest, passage_id: str, settings: RetrieverSettings
) -> Account:
    stored = (await index.engine.passages([passage_id])).get(passage_id)
    if stored is None:
        raise UnknownPassage(f"index {index.manifest.name!r} holds no passage {passage_id!r}")
    context = open_search(index, replace(request, k=DEPTH), settings)
    stages = await run_stages(context)
    result = await present(context, stages)
    rank, shown = next(
        ((hit.rank, hit.passage_id) for hit in result.hits if hit.doc_id == stored.doc_id), (None, "")
    )
    ranking = stages.ranking or Ranking()
    query = main_query(stages, title_weight=settings.title_weight)
    explanation = await index.engine.explain(query, passage_id) if query else Explanation(passage_id, 0.0, ())
    scored = (ranking.scored or {}).get(passage_id)
    features = dict(scored.parts) if scored else {}
    if lost := ranking.losses.get(passage_id):
        features["constraints"] = lost, -1.0
    return Account(
        passage_id, stored.title, request.method, rank, shown, explanation, ranking.reranker, features
    )


def main_query(stages: Stages, *, title_weight: float) -> Query | None:
    """Return the query whose BM25 explains the order: the first of the plan.

    Where the plan has none (method dense) the whole question's; None where nothing is left to search for.
    """
    if stages.plan and stages.plan.queries:
        return stages.plan.queries[0].query
    if stages.question is None or stages.question.is_empty:
        return None
    return question_query(stages.question, title_weight=title_weight)
