"""Requests of paper finding, and its resources."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from pydantic import PlainSerializer

from base.errors import InvalidCall
from generator.finding.agents import ADDITIONS, AGENTS
from generator.finding.bounds import BOUNDS, DEFAULTS, Wording
from generator.llm import LanguageModel
from generator.model_calls.allowance import Allowance
from generator.model_calls.budgets import Budget
from indexer.corpora.papers import Language, language_of
from retriever.constraints.exclusions import Exclusion
from retriever.queries.filters import Filters
from retriever.relevance.paper_ranking import QuestionRanking
from retriever.relevance.papers import PaperRelevance
from retriever.requests.request import check_question
from retriever.sources.merging import LimitedSource


@dataclass(frozen=True, slots=True)
class FindRequest:
    """A question and the options of a search for papers.

    `papers` is the size of the paper cache (SPAR's K), `rounds` the number of rounds of evolved queries,
    `layers` the number of layers of references (SPAR: 1), `threshold` the least judgement of a relevant paper
    (a model's score, or a probability as a share of the best list's expected F: `FindingState.is_relevant`).
    """

    question: str
    papers: int = DEFAULTS["papers"]
    rounds: int = DEFAULTS["rounds"]
    layers: int = DEFAULTS["layers"]
    threshold: float = DEFAULTS["threshold"]
    judge: Wording = DEFAULTS["judge"]
    per_query: int = DEFAULTS["per_query"]  # papers per query and source
    evolved: int = DEFAULTS["evolved"]  # evolved queries sampled for a round
    seed: int = DEFAULTS["seed"]
    # Agents and additions that are switched off.
    without: Annotated[frozenset[str], PlainSerializer(sorted)] = frozenset()
    filters: Filters = field(default_factory=Filters)
    budget: Budget = field(default_factory=Budget)

    def __post_init__(self) -> None:
        """Check the question, the numbers and the names; raises BadQuestion, InvalidCall."""
        check_question(self.question)
        for what, (least, most) in BOUNDS.items():
            if not least <= getattr(self, what) <= most:
                raise InvalidCall(f"{what} is {getattr(self, what)}, but must be from {least} to {most:,}")
        known = (*AGENTS, *ADDITIONS)
        if unknown := sorted(self.without.difference(known)):
            raise InvalidCall(f"there is no agent {unknown[0]!r}; there are {', '.join(known)}")

    def does(self, name: str) -> bool:
        """Check whether an agent or an addition is on."""
        return name not in self.without

    @property
    def language(self) -> Language:
        """The language of the question."""
        return language_of(self.question)

    def as_record(self) -> dict[str, Any]:
        """Return the request as JSON, for a trace."""
        return asdict(self) | {"without": sorted(self.without), "filters": self.filters.as_record()}


@dataclass(frozen=True, slots=True)
class FindResources:
    """Sources, models and budget of a search for papers; the caller keeps them open."""

    sources: Sequence[LimitedSource]
    relevance: PaperRelevance
    ranking: QuestionRanking
    model: LanguageModel | None
    allowance: Allowance
    this_year: int
    excluded: tuple[Exclusion, ...] = ()  # exclusions of the question

    @property
    def ranks(self) -> bool:
        """Whether `shrag` ranks the question's papers, because no model judges them."""
        return self.model is None and not self.relevance.has_model
