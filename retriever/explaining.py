"""Why a passage stands where it stands: BM25 term by term, and the features of the tuned order."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from retriever.engines import Explanation
from retriever.errors import UnknownPassage
from retriever.index import SearchIndex
from retriever.reranker import HEAD, HEAD_WEIGHTS, TAIL_WEIGHTS
from retriever.search import SearchRequest, feature_table, prepare_query, rank
from retriever.settings import RetrieverSettings

DEPTH = 100


@dataclass(frozen=True, slots=True)
class Account:
    """What a passage's place is made of; `features` maps a name to its value and weight."""

    passage_id: str
    title: str
    method: str
    rank: int | None
    explanation: Explanation
    features: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """Say in one line where the passage stands."""
        if self.rank is None:
            return f"not among the first {DEPTH} by --method {self.method}"
        return f"rank {self.rank} by --method {self.method}"

    def as_record(self) -> dict[str, Any]:
        """Return the account as JSON."""
        return {
            "passage_id": self.passage_id,
            "method": self.method,
            "rank": self.rank,
            "score": self.explanation.score,
            "terms": [asdict(term) for term in self.explanation.terms],
            "features": {
                name: {"value": value, "weight": weight} for name, (value, weight) in self.features.items()
            },
        }


async def explain(
    index: SearchIndex, request: SearchRequest, passage_id: str, settings: RetrieverSettings | None = None
) -> Account:
    """Account for one passage's place.

    Raises:
        UnknownPassage: no passage of that id in the index.
    """
    stored = (await index.engine.passages([passage_id])).get(passage_id)
    if stored is None:
        raise UnknownPassage(f"index {index.manifest.name!r} holds no passage {passage_id!r}")
    settings = settings or RetrieverSettings()
    query = await prepare_query(index, request, settings)
    request = replace(request, k=DEPTH, collapse=False)
    ranked = await rank(index, request, settings)
    place = next((place for place, (one, _) in enumerate(ranked, 1) if one == passage_id), None)
    features = {}
    if request.method == "shrag":
        for hit, row in await feature_table(index, request, settings):
            if hit.passage_id == passage_id:
                weights = HEAD_WEIGHTS if place is not None and place <= HEAD else TAIL_WEIGHTS
                features = {name: (getattr(row, name), weight) for name, weight in weights.items()}
    if query is None:
        explanation = Explanation(passage_id, 0.0, ())
    else:
        explanation = await index.engine.explain(query, passage_id)
    return Account(passage_id, stored.title, request.method, place, explanation, features)
