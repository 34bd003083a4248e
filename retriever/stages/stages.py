"""The values of one search: the ranking, and the results of all stages, which a caller may replace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self, TypeVar

from retriever.engines import EngineHit
from retriever.engines.ordering import first_of_each_paper
from retriever.formula import ScoredCandidates
from retriever.queries.boolean import Query
from retriever.query_plan import QueryPlan, question_query
from retriever.question import Question
from retriever.second_search import Bridge
from retriever.stages.pool import CandidatePool
from retriever.terms import SearchTerms

T = TypeVar("T")
Stage = Literal["question", "terms", "plan", "pool", "ranking"]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits with their scores, best first, and their origin.

    `scored` contains the candidates that were ordered by the formula.
    """

    hits: tuple[tuple[EngineHit, float], ...] = ()
    scored: ScoredCandidates | None = None  # None if the method computes no formula
    by_vectors: bool = False  # whether cosines took part in the order
    reranker: str = ""  # the cross-encoder that ordered the first hits
    losses: Mapping[str, float] = field(default_factory=dict)  # score lost to exclusions, by passage_id
    feedback: Mapping[str, float] = field(default_factory=dict)  # weights of the terms of the best passages
    bridges: tuple[Bridge, ...] = ()  # of the second search
    pool: CandidatePool | None = None  # with the hits of later searches

    def cut(self, k: int) -> "Ranking":
        """Return the ranking of the first k hits."""
        return replace(self, hits=self.hits[:k])


def collapsed(hits: Sequence[tuple[EngineHit, float]]) -> tuple[tuple[EngineHit, float], ...]:
    """Keep the first hit of each paper, with its score."""
    return tuple(first_of_each_paper(hits, lambda ranked: ranked[0].doc_id))


@dataclass(frozen=True, slots=True)
class Stages:
    """The results of the stages of one search; None if not computed yet.

    Methods without a strategy leave `terms` None. Replacing a value drops the values computed from it.
    """

    question: Question | None = None
    terms: SearchTerms | None = None
    plan: QueryPlan | None = None
    pool: CandidatePool | None = None
    ranking: Ranking | None = None

    def main_query(self, *, title_weight: float) -> Query | None:
        """Return the first query of the plan.

        If the plan has none (method dense), it is the whole question; None if there is nothing to search for.
        """
        if self.plan and self.plan.queries:
            return self.plan.queries[0].query
        question = self.question
        return question_query(question, title_weight=title_weight) if question and question.weights else None

    def with_plan(self, plan: QueryPlan) -> Self:
        """Return the stages with another query plan."""
        return replace(self, plan=plan, pool=None, ranking=None)


def computed(value: T | None) -> T:
    """Return a stage's value; ValueError if it has not been computed."""
    if value is None:
        raise ValueError("a stage of the search has not been computed; see run_stages")
    return value
