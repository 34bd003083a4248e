"""What is asked of an index, and the options that take effect for it."""

from dataclasses import dataclass, field, replace
from typing import Literal

from retriever.constraints.parsing import LONGEST_EXCLUSION, MOST_CONSTRAINTS, Constraints, find_constraints
from retriever.errors import BadFilter, BadQuestion
from retriever.queries.boolean import Filters, Range
from retriever.queries.keywords import Keyword
from retriever.settings import Candidates, KeywordRanking, OrderPart

ConstraintSource = Literal["question", "given"]
MOST_CHARACTERS = 20_000  # of a question


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question to an index.

    `collapse` gives papers, each by its best passage; without it passages. `keywords` stand in for those from
    statistics: analysed ones, or texts as a person typed and ordered them. `title_weight` None leaves it to
    the method and the settings. `constraints` stand in for those of the question; empty ones drop them.
    `skip` names queries that are not sent. With `evidence` passages are left out that consist of questions or
    word lists, only repeat the question, or have the text of an older record with other figures.
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

    @property
    def analysed_keywords(self) -> tuple[Keyword, ...] | None:
        """The keywords that are analysed; None where statistics are to choose them."""
        if self.keywords is None:
            return None
        return tuple(keyword for keyword in self.keywords if isinstance(keyword, Keyword))

    @property
    def typed_keywords(self) -> tuple[str, ...]:
        """The keywords that are texts, not analysed yet."""
        return tuple(keyword for keyword in self.keywords or () if isinstance(keyword, str))


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of one search: what the request asks for, else what the method or the settings say."""

    method: str
    title_weight: float | None  # None where the method has no title clause
    keyword_count: int  # how many at most
    hits_per_query: int  # papers that a progressive query brings
    keyword_ranking: KeywordRanking
    rank_given_keywords: bool
    count_repeats: bool
    candidates: Candidates
    rerank_depth: int
    drop_incomplete: bool
    without: frozenset[OrderPart]  # parts of the order that are left out
    constraints: ConstraintSource | None  # where they come from; None where none have a part
    this_year: int  # that "the last five years" count back from


def with_constraints(request: SearchRequest, options: SearchOptions) -> SearchRequest:
    """Return the request with the constraints that take effect; strict years become a filter.

    Raises:
        BadFilter: no year satisfies both them and the filter of years, or they are too many or too long.
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
        raise BadFilter(f"{count:,} constraints, and {MOST_CONSTRAINTS} at most: leave some out")
    longest = max((len(exclusion.text) for exclusion in constraints.exclusions), default=0)
    if longest > LONGEST_EXCLUSION:
        raise BadFilter(
            f"an exclusion of {longest:,} characters, and {LONGEST_EXCLUSION} at most: shorten it"
        )


def _in_both(first: Range, second: Range) -> Range:
    lows = [years.low for years in (first, second) if years.low is not None]
    highs = [years.high for years in (first, second) if years.high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and high is not None and low > high:
        raise BadFilter(f"no year is asked for by both the question and the filter: from {low}, until {high}")
    return Range(low, high)


def check_question(question: str) -> None:
    """Raise BadQuestion for a question that cannot be searched for: empty, too long, no text."""
    if len(question) > MOST_CHARACTERS:
        raise BadQuestion(
            f"the question has {len(question):,} characters, {MOST_CHARACTERS:,} are allowed; shorten it"
        )
    if not question.strip():
        raise BadQuestion("the question is empty")
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadQuestion(f"the question holds a lone surrogate at character {error.start}") from None
