"""The results of the stages of one search. A caller may replace each of them."""

from dataclasses import dataclass, replace
from typing import Literal, Self, TypeVar

from retriever.keywords.choice import KeywordChoice
from retriever.keywords.plan import QueryPlan
from retriever.question.analysis import AnalysedQuestion
from retriever.stages.pool import CandidatePool
from retriever.stages.ranking import Ranking

T = TypeVar("T")
Stage = Literal["question", "keywords", "plan", "pool", "ranking"]


@dataclass(frozen=True, slots=True)
class Stages:
    """The results of the stages of one search; None if not computed yet.

    Methods without keywords leave `keywords` None. Replacing a value drops the values computed from it.
    """

    question: AnalysedQuestion | None = None
    keywords: KeywordChoice | None = None
    plan: QueryPlan | None = None
    pool: CandidatePool | None = None
    ranking: Ranking | None = None

    def with_keywords(self, keywords: KeywordChoice) -> Self:
        """Return the stages with other keywords."""
        return replace(self, keywords=keywords, plan=None, pool=None, ranking=None)

    def with_plan(self, plan: QueryPlan) -> Self:
        """Return the stages with another query plan."""
        return replace(self, plan=plan, pool=None, ranking=None)

    def with_pool(self, pool: CandidatePool) -> Self:
        """Return the stages with another candidate pool."""
        return replace(self, pool=pool, ranking=None)


def computed(value: T | None) -> T:
    """Return a stage's value; ValueError if it has not been computed."""
    if value is None:
        raise ValueError("a stage of the search has not been computed; see run_stages")
    return value
