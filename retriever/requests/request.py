"""A request to an index, and the options that take effect for it."""

from dataclasses import dataclass, field, replace
from typing import Literal

from retriever.constraints.parsing import LONGEST_EXCLUSION, MOST_CONSTRAINTS, Constraints, find_constraints
from retriever.errors import BadFilter, BadQuestion
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.queries.keywords import Keyword
from retriever.settings import Candidates, KeywordRanking, OrderPart

ConstraintSource = Literal["question", "given"]
MOST_CHARACTERS = 20_000  # of a question


Sort = Literal["relevance", "year", "citations"]
RELEVANCE: Sort = "relevance"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question to an index.

    With `collapse` hits are papers, each by its best passage; otherwise passages. `keywords` replace the
    keywords from statistics: analysed ones, or texts as a person typed and ordered them. With `title_weight`
    None, the method and the settings decide. `constraints` replace those of the question; empty ones drop
    them. `skip` names queries that are not sent. `evidence` leaves out passages that consist of questions or
    word lists, only repeat the question, or have the text of an older record with other figures. `sort` is
    the order of the hits shown (`searching/sorting.py`).
    """

    question: str
    method: str = "shrag"
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    collapse: bool = True
    keywords: tuple[Keyword, ...] | tuple[str, ...] | None = None
    title_weight: float | None = None
    constraints: Constraints | None = None
    skip: tuple[str, ...] = ()
    evidence: bool = False
    sort: Sort = RELEVANCE

    @property
    def analysed_keywords(self) -> tuple[Keyword, ...] | None:
        """The analysed keywords; None if statistics choose them."""
        if self.keywords is None:
            return None
        return tuple(keyword for keyword in self.keywords if isinstance(keyword, Keyword))

    @property
    def typed_keywords(self) -> tuple[str, ...]:
        """The keywords given as texts, not analysed yet."""
        return tuple(keyword for keyword in self.keywords or () if isinstance(keyword, str))


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of one search, from the request, else from the method or the settings."""

    method: str
    title_weight: float | None  # None if the method has no title clause
    keyword_count: int  # maximum
    hits_per_query: int  # papers of a progressive query
    keyword_ranking: KeywordRanking
    rank_given_keywords: bool
    count_repeats: bool
    candidates: Candidates
    rerank_depth: int
    drop_incomplete: bool
    without: frozenset[OrderPart]  # parts of the order to leave out
    constraints: ConstraintSource | None  # their source; None if the search has none
    this_year: int  # from which "the last five years" count back


def with_constraints(request: SearchRequest, options: SearchOptions) -> SearchRequest:
    """Return the request with the constraints that take effect; strict years become a filter.

    Raises:
        BadFilter: no year satisfies both the constraints and the filter of years, or the constraints are too
            many or too long.
    """
    constraints = request.constraints or Constraints()
    _check_size(constraints)
    if options.constraints == "question":
        constraints = find_constraints(request.question, options.this_year)
    filters, asked = request.filters, constraints.year_range()
    if asked and constraints.strict_time:
        filters = replace(filters, years=_in_both(asked, filters.years or Range(None, None)))
    return replace(request, constraints=constraints, filters=filters)


def _check_size(constraints: Constraints) -> None:
    count = max(len(constraints.exclusions), len(constraints.years))
    if count > MOST_CONSTRAINTS:
        raise BadFilter(f"{count:,} constraints are given; the maximum is {MOST_CONSTRAINTS}: leave some out")
    longest = max((len(exclusion.text) for exclusion in constraints.exclusions), default=0)
    if longest > LONGEST_EXCLUSION:
        raise BadFilter(
            f"an exclusion has {longest:,} characters; the maximum is {LONGEST_EXCLUSION}: shorten it"
        )


def _in_both(first: Range, second: Range) -> Range:
    lows = [years.low for years in (first, second) if years.low is not None]
    highs = [years.high for years in (first, second) if years.high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and high is not None and low > high:
        raise BadFilter(f"no year satisfies both the question and the filter: from {low}, until {high}")
    return Range(low, high)


def check_question(question: str) -> None:
    """Raise BadQuestion for a question that is empty, too long, or not valid Unicode."""
    if len(question) > MOST_CHARACTERS:
        raise BadQuestion(
            f"the question has {len(question):,} characters; the maximum is {MOST_CHARACTERS:,}: shorten it"
        )
    if not question.strip():
        raise BadQuestion("the question is empty")
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadQuestion(f"the question contains a lone surrogate at character {error.start}") from None
