"""Requests of paper finding, with their budgets, and its resources."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, ValidationError

from base.calls import invalid_call
from generator.budgets import Allowance, Budget
from generator.finding.calls import FindOptions
from generator.llm import LanguageModel
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, Language, language_of_question
from retriever.conditions import Conditions
from retriever.exclusions import Excluded
from retriever.queries.filters import Filters
from retriever.relevance.paper_ranking import QuestionRanking
from retriever.relevance.papers import PaperRelevance
from retriever.request import check_question
from retriever.sources.merging import LimitedSource


class FindRequest(FindOptions):
    """A question and the options of a search for papers."""

    question: str
    evolved: Annotated[int, Field(ge=0, le=100)] = 5  # evolved queries sampled for a round
    filters: Filters = Filters()
    budget: Budget = Budget()
    this_year: Annotated[int, Field(ge=FIRST_YEAR, le=LAST_YEAR)] | None = None  # None: the current one

    def __init__(self, question: str, **options: Any) -> None:
        """Check the question and the options.

        Raises:
            BadQuestion: the question is empty or too long.
            InvalidCall: an option is unknown or out of bounds.
        """
        check_question(question)
        try:
            super().__init__(**{"question": question, **options})
        except ValidationError as error:
            raise invalid_call(error) from None

    def does(self, name: str) -> bool:
        """Check whether an agent or an addition is on."""
        return name not in self.without

    @property
    def year(self) -> int:
        """The year by which papers are recent."""
        return self.this_year or datetime.now().astimezone().year

    @property
    def language(self) -> Language:
        """The language of the question."""
        return language_of_question(self.question)

    def as_record(self) -> dict[str, Any]:
        """Return the request as JSON, for a trace."""
        options = {name: getattr(self, name) for name in type(self).model_fields}
        return options | {
            "without": sorted(self.without),
            "filters": self.filters.as_record(),
            "budget": asdict(self.budget),
        }


@dataclass(frozen=True, slots=True)
class FindResources:
    """A request with the sources, models and budget of its search; the caller keeps them open."""

    request: FindRequest
    sources: Sequence[LimitedSource]
    relevance: PaperRelevance
    ranking: QuestionRanking
    model: LanguageModel | None
    allowance: Allowance
    conditions: Conditions  # explicit ones of the question
    excluded: tuple[Excluded, ...] = ()  # the exclusions among them, analysed

    @property
    def ranks(self) -> bool:
        """Whether `shrag` ranks the question's papers, because no model judges them."""
        return self.model is None and not self.relevance.has_model
