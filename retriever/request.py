"""What is asked of an index, and the options that take effect for it."""

from dataclasses import dataclass, field

from retriever.keywords import Keyword
from retriever.queries import Filters
from retriever.settings import Candidates, KeywordRanking


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question to an index.

    `collapse` gives papers, each by its best passage; without it passages. `keywords` stand in for those from
    statistics. `title_weight` None leaves it to the method and the settings.
    """

    question: str
    method: str = "shrag"
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    collapse: bool = True
    keywords: tuple[Keyword, ...] | None = None
    title_weight: float | None = None


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
    word_forms: bool
