"""What a search gives: keywords, queries, hits, counts, and why a passage has its rank."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Language = Literal["ko", "en", "other"]
Mark = Annotated[list[int], Field(min_length=2, max_length=2, description="[start, end) in code points")]


class Keyword(TypedDict):
    """A word that is searched for; the most important stands first."""

    text: str
    language: Language
    weight: float


class Counterpart(TypedDict):
    """What stands for a word in the other language, or beside it."""

    text: str
    origin: Annotated[str, Field(description="corpus, general, user, synonym, abbreviation or sound")]


class Concept(TypedDict):
    """A thing that the question is about, and what else it is called."""

    text: str
    weight: float
    counterparts: list[Counterpart]


class Bridge(TypedDict):
    """A name that one passage holds and that another was searched by."""

    text: str
    passage_id: str


class PlannedQuery(TypedDict):
    """A query by its name, as a person would type it."""

    name: Annotated[str, Field(description="question, SQ10 … SQ1, nearest", examples=["SQ7"])]
    query: Annotated[str, Field(examples=["cell OR spread OR runaway"])]


class SentQuery(PlannedQuery):
    """A query that was sent; `added` papers of its hits no query before it had found."""

    hits: int
    added: int


class FoundIn(TypedDict):
    """A source that has a paper, and the paper's id there."""

    source: str
    id: str


class Hit(TypedDict):
    """A paper found, by its best passage."""

    rank: Annotated[int, Field(ge=1)]
    passage_id: str
    doc_id: str
    score: Annotated[float, Field(description="to be compared within one search only")]
    title: str
    title_marks: list[Mark]
    year: NotRequired[int]
    journal: NotRequired[str]
    doi: NotRequired[str]
    authors: NotRequired[Annotated[list[str], Field(description="20 at most")]]
    author_count: NotRequired[Annotated[int, Field(description="where there are more")]]
    found_in: NotRequired[Annotated[list[FoundIn], Field(description="of a search of sources")]]
    url: NotRequired[
        Annotated[str, Field(description="of a paper of a source: its address on the web, http(s)")]
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
    coins: NotRequired[Annotated[str, Field(description="for literature managers; of a search's hits")]]


class Exclusion(TypedDict):
    """Words that the question leaves out, and where it says so."""

    text: str
    operator: str
    start: int
    end: int
    tokens: list[str]


class Years(TypedDict):
    """Years that the question asks for, bounds included; null is open."""

    first: int | None
    last: int | None
    text: str
    start: int
    end: int


class Constraints(TypedDict):
    """What a question says about the papers that it wants."""

    exclusions: list[Exclusion]
    years: list[Years]
    strict_time: Annotated[bool, Field(description="whether papers of other years were left out")]


class Filtered(TypedDict):
    """How many hits were left out."""

    incomplete: NotRequired[Annotated[int, Field(description="papers without an abstract")]]
    duplicates: NotRequired[int]
    unstated: NotRequired[
        Annotated[int, Field(description="of an answer: passages that consist of questions or word lists")]
    ]
    low_scores: NotRequired[
        Annotated[int, Field(description="of an answer: papers that score less than .3 of the best")]
    ]


class AppliedSearch(TypedDict):
    """The configuration that took effect; null for an option without a use in the method."""

    method: str
    order: Annotated[str, Field(description="how the hits were ordered, in words")]
    title_weight: float | None
    keyword_source: str | None
    keyword_count: int | None
    keyword_ranking: str | None
    hits_per_query: int | None
    count_repeats: bool | None
    candidates: str | None
    without: list[str] | None
    vectors: str
    vectors_unused: Annotated[str, Field(description="why vectors had no part in the order")]
    reranker: str
    rerank_depth: int | None
    drop_incomplete: bool
    constraints: str | None
    this_year: int | None
    skip: list[str]
    failures: Annotated[list[str], Field(description="of models that the search went on without")]


class Found(TypedDict):
    """A question and what was found for it."""

    index: Annotated[str | None, Field(description="null where sources were asked")]
    sources: NotRequired[Annotated[list[str], Field(description="that were asked instead of an index")]]
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
        float | None, Field(ge=0, le=1, description="that the hits answer; null where the method gives none")
    ]
    unknown_words: Annotated[
        list[str], Field(description="words of the question, as typed, that no paper of the index contains")
    ]
    constraints: Constraints
    notes: Annotated[
        list[str], Field(description="for a reader: what was done otherwise than asked, and why")
    ]
    milliseconds: Annotated[dict[str, float], Field(description="by stage")]


class UnknownWord(TypedDict):
    """A word that the index does not hold, and what is written like it there."""

    text: str
    near: list[str]


class WithoutFilter(TypedDict):
    """How many passages would match without a filter."""

    filter: str
    passages: int


class OtherWords(TypedDict):
    """What else words of the question are called, and how many passages hold it."""

    text: str
    passages: int


class NothingFound(TypedDict):
    """Why a search found nothing, and what would find something."""

    reason: str
    unknown: list[UnknownWord]
    without_filter: list[WithoutFilter]
    without_filters: int
    other_language: list[OtherWords]
    version: int


class FacetValue(TypedDict):
    """A value with its papers; null stands for papers that have none."""

    value: int | str | None
    papers: int


class Facet(TypedDict):
    """The values of a field."""

    values: list[FacetValue]
    others: Annotated[int, Field(description="how many values more there are")]


class FacetsOfFields(TypedDict):
    """The fields that are counted."""

    year: Facet
    lang: Facet
    journal: Facet


class FacetCounts(TypedDict):
    """How many papers match, by field."""

    papers: int
    exact: Annotated[bool, Field(description="false where counts are estimates")]
    version: int
    facets: FacetsOfFields


class Facets(FacetCounts):
    """How many papers of an index match, by field."""

    index: str


class SearchResult(Found):
    """The hits of a search and how they came about."""

    fingerprint: Annotated[dict[str, str], Field(description="by what the index was analysed and built")]
    nothing_found: NotRequired[NothingFound]
    facets: NotRequired[
        Annotated[
            FacetCounts,
            Field(description="where the call asks for them, unless counting fails or takes too long"),
        ]
    ]


class ChosenKeywords(TypedDict):
    """The keywords of a question, to be edited."""

    index: Annotated[str | None, Field(description="null where sources were asked")]
    sources: NotRequired[Annotated[list[str], Field(description="that were asked instead of an index")]]
    question: str
    keywords: list[Keyword]
    constraints: Constraints
    notes: list[str]


class PlannedSearch(ChosenKeywords):
    """The keywords and queries of a question, to be edited."""

    queries: list[PlannedQuery]


class ScorePart(TypedDict):
    """A part of a score: value × weight."""

    value: float
    weight: float
    contribution: float


class Explanation(TypedDict):
    """What a passage's rank depends on; the contributions of `features` add up to `order_score`."""

    index: str
    passage_id: str
    method: str
    rank: Annotated[int | None, Field(description="of its paper; null where the search does not show it")]
    shown: Annotated[str, Field(description="the passage by which the paper is shown")]
    order_score: Annotated[float | None, Field(description="null where the passage was not found")]
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
    """What a token of the first query adds to the BM25 score of the passage."""

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
    """A paper that has another rank than then."""

    doc_id: str
    then: int
    now: int


class ChangedValue(TypedDict):
    """What is otherwise than then: of the index, the settings or the queries."""

    what: str
    then: Any
    now: Any


class Comparison(TypedDict):
    """Whether a search that was run again found the same papers in the same order."""

    same: bool
    found: int
    came: list[NamedPaper]
    went: list[NamedPaper]
    moved: list[MovedPaper]
    changed: list[ChangedValue]


class Rerun(TypedDict):
    """A search that was run again: what came and went, its new record, and what it found."""

    comparison: Comparison
    record: dict[str, Any]
    result: SearchResult
