"""Search results: keywords, queries, hits, counts, and the explanation of a rank."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Language = Literal["ko", "en", "other"]
Mark = Annotated[list[int], Field(min_length=2, max_length=2, description="[start, end) in code points")]


class Keyword(TypedDict):
    """A searched keyword; the most important comes first."""

    text: str
    language: Language
    weight: float


class Counterpart(TypedDict):
    """A substitute for a word: its translation, or another form in the same language."""

    text: str
    origin: Annotated[str, Field(description="corpus, general, user, synonym, abbreviation or sound")]


class Concept(TypedDict):
    """A concept of the question, and its other names."""

    text: str
    weight: float
    counterparts: list[Counterpart]


class Bridge(TypedDict):
    """A name that one passage contains and that a follow-up search used to find another."""

    text: str
    passage_id: str


class PlannedQuery(TypedDict):
    """A query and its name, in the syntax of the command line."""

    name: Annotated[str, Field(description="question, SQ10 … SQ1, nearest", examples=["SQ7"])]
    query: Annotated[str, Field(examples=["cell OR spread OR runaway"])]


class SentQuery(PlannedQuery):
    """A sent query; `added` counts hits that no earlier query had found."""

    hits: int
    added: int


class FoundIn(TypedDict):
    """A source that has a paper, and the paper's id there."""

    source: str
    id: str


class Hit(TypedDict):
    """A found paper, represented by its best passage."""

    rank: Annotated[int, Field(ge=1)]
    passage_id: str
    doc_id: str
    score: Annotated[float, Field(description="comparable only within one search")]
    title: str
    title_marks: list[Mark]
    year: NotRequired[int]
    journal: NotRequired[str]
    doi: NotRequired[str]
    authors: NotRequired[Annotated[list[str], Field(description="20 at most")]]
    author_count: NotRequired[Annotated[int, Field(description="if there are more")]]
    found_in: NotRequired[Annotated[list[FoundIn], Field(description="in a search of sources")]]
    url: NotRequired[
        Annotated[str, Field(description="address on the web, http(s), of a paper from a source")]
    ]
    lang: Annotated[Language, Field(description="of the passage")]
    snippet: str
    snippet_marks: list[Mark]
    found_by: Annotated[list[int], Field(description="n of each SQn that found it")]
    found_by_names: list[str]
    folded: NotRequired[
        Annotated[
            int, Field(description="duplicates left out: records of the same paper, copies of its text")
        ]
    ]
    folded_ids: NotRequired[Annotated[list[str], Field(description="doc_ids of these, 20 at most")]]
    same_doi: NotRequired[
        Annotated[list[str], Field(description="doc_ids of other hits: same DOI, different text; 20 at most")]
    ]
    other_figures: NotRequired[
        Annotated[int, Field(description="records with the same text and other figures; not in the evidence")]
    ]
    other_figures_ids: NotRequired[Annotated[list[str], Field(description="doc_ids of these, 20 at most")]]
    title_only: NotRequired[
        Annotated[bool, Field(description="the paper has no abstract and matches by its title; no evidence")]
    ]
    coins: NotRequired[Annotated[str, Field(description="for literature managers; only hits of a search")]]


class Exclusion(TypedDict):
    """Words that the question excludes, and their position in it."""

    text: str
    operator: str
    start: int
    end: int
    tokens: list[str]


class Years(TypedDict):
    """Years that the question requires, bounds included; null is open."""

    first: int | None
    last: int | None
    text: str
    start: int
    end: int


class Constraints(TypedDict):
    """Constraints on papers found in a question."""

    exclusions: list[Exclusion]
    years: list[Years]
    strict_time: Annotated[bool, Field(description="whether papers of other years were left out")]


class Filtered(TypedDict):
    """Numbers of removed hits."""

    incomplete: NotRequired[Annotated[int, Field(description="papers without an abstract")]]
    duplicates: NotRequired[int]
    unstated: NotRequired[
        Annotated[int, Field(description="in an answer: passages that consist of questions or word lists")]
    ]
    low_scores: NotRequired[
        Annotated[int, Field(description="of an answer: papers that score less than .3 of the best")]
    ]


class AppliedSearch(TypedDict):
    """The configuration that took effect; null for an option that the method does not use."""

    method: str
    order: Annotated[str, Field(description="order of the hits, in words")]
    title_weight: float | None
    keyword_source: str | None
    keyword_count: int | None
    keyword_ranking: str | None
    hits_per_query: int | None
    count_repeats: bool | None
    candidates: str | None
    without: list[str] | None
    vectors: str
    vectors_unused: Annotated[str, Field(description="why vectors did not affect the order")]
    reranker: str
    rerank_depth: int | None
    drop_incomplete: bool
    constraints: str | None
    this_year: int | None
    skip: list[str]
    failures: Annotated[list[str], Field(description="failures of models that the search skipped")]


class Found(TypedDict):
    """A question and its search result."""

    index: Annotated[str | None, Field(description="null if sources were searched")]
    sources: NotRequired[Annotated[list[str], Field(description="searched instead of an index")]]
    question: str
    method: str
    version: Annotated[int | None, Field(description="of the index")]
    keywords: list[Keyword]
    concepts: list[Concept]
    bridges: list[Bridge]
    queries: list[SentQuery]
    hits: list[Hit]
    filtered: Filtered
    order: str
    applied: AppliedSearch | None
    likelihood: Annotated[
        float | None, Field(ge=0, le=1, description="that the hits answer; null if the method has none")
    ]
    unknown_words: Annotated[
        list[str], Field(description="words of the question that no paper of the index contains")
    ]
    constraints: Constraints
    notes: Annotated[
        list[str], Field(description="for a reader: deviations from the request, and their reasons")
    ]
    milliseconds: Annotated[dict[str, float], Field(description="by stage")]


class UnknownWord(TypedDict):
    """A word that is not in the index, and similar words that are."""

    text: str
    near: list[str]


class WithoutFilter(TypedDict):
    """The number of passages that would match without a filter."""

    filter: str
    passages: int


class OtherWords(TypedDict):
    """Other names for words of the question, and the number of passages with them."""

    text: str
    passages: int


class NothingFound(TypedDict):
    """Why a search found nothing, and changes that would find something."""

    reason: str
    unknown: list[UnknownWord]
    without_filter: list[WithoutFilter]
    without_filters: int
    other_language: list[OtherWords]
    version: int


class FacetValue(TypedDict):
    """A value and its number of papers; null stands for papers without a value."""

    value: int | str | None
    papers: int


class Facet(TypedDict):
    """The values of a field."""

    values: list[FacetValue]
    others: Annotated[int, Field(description="number of further values")]


class FacetsOfFields(TypedDict):
    """The counted fields."""

    year: Facet
    lang: Facet
    journal: Facet


class FacetCounts(TypedDict):
    """Numbers of matching papers, by field."""

    papers: int
    exact: Annotated[bool, Field(description="false if counts are estimates")]
    version: int
    facets: FacetsOfFields


class Facets(FacetCounts):
    """Numbers of matching papers of an index, by field."""

    index: str


class SearchResult(Found):
    """The hits of a search with the fingerprint of its index."""

    fingerprint: Annotated[dict[str, str], Field(description="the analyzer and settings of the index")]
    nothing_found: NotRequired[NothingFound]
    facets: NotRequired[
        Annotated[
            FacetCounts,
            Field(description="if requested, unless counting fails or takes too long"),
        ]
    ]


class ChosenKeywords(TypedDict):
    """The keywords of a question, for editing."""

    index: Annotated[str | None, Field(description="null if sources were searched")]
    sources: NotRequired[Annotated[list[str], Field(description="searched instead of an index")]]
    question: str
    keywords: list[Keyword]
    constraints: Constraints
    notes: list[str]


class PlannedSearch(ChosenKeywords):
    """The keywords and queries of a question, for editing."""

    queries: list[PlannedQuery]


class ScorePart(TypedDict):
    """A part of a score: value × weight."""

    value: float
    weight: float
    contribution: float


class Explanation(TypedDict):
    """The parts of a passage's rank; the contributions of `features` add up to `order_score`."""

    index: str
    passage_id: str
    method: str
    rank: Annotated[int | None, Field(description="of its paper; null if the paper is not among the hits")]
    shown: Annotated[str, Field(description="the passage that represents the paper")]
    order_score: Annotated[float | None, Field(description="null if the passage was not found")]
    reranker: str
    features: dict[str, ScorePart]
    cosine: float | None
    concepts: list[dict[str, Any]]
    spellings: dict[str, list[str]]
    constraints: list[dict[str, Any]]
    feedback: list[dict[str, Any]]
    names: list[str]
    bridges: list[dict[str, Any]]
    uncovered: dict[str, float]
    score: Annotated[float, Field(description="BM25 of the first query: the sum of `terms`")]
    terms: list["TermScore"]
    lines: Annotated[list[str], Field(description="the same in words")]


class TermScore(TypedDict):
    """The contribution of a token of the first query to the passage's BM25 score."""

    token: str
    field: str
    weight: float
    frequency: float
    document_frequency: int
    idf: float
    score: float


class NamedPaper(TypedDict):
    """A paper by id and title."""

    doc_id: str
    title: str


class MovedPaper(TypedDict):
    """A paper whose rank changed."""

    doc_id: str
    then: int
    now: int


class ChangedValue(TypedDict):
    """A change of the index, the settings or the queries."""

    what: str
    then: Any
    now: Any


class Comparison(TypedDict):
    """Whether a repeated search found the same papers in the same order."""

    same: bool
    found: int
    came: list[NamedPaper]
    went: list[NamedPaper]
    moved: list[MovedPaper]
    changed: list[ChangedValue]


class Rerun(TypedDict):
    """A repeated search: the differences, its new record, and its result."""

    comparison: Comparison
    record: dict[str, Any]
    result: SearchResult
