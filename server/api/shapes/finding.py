"""Found papers, how each was found, and the events in which they arrive."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.api.shapes.searches import FoundIn, Language

Score = Annotated[float, Field(ge=0, le=1)]


class FoundBy(TypedDict):
    """How a paper was found: by a query, as a reference of a paper, or as citing a paper."""

    kind: Literal["query", "reference", "citing"]
    of: Annotated[str, Field(description="the query's text, or the paper's id")]
    rank: Annotated[int, Field(ge=1)]


class Cited(TypedDict):
    """How often a paper is cited, and the source of the count."""

    count: int
    by: Annotated[
        Literal["record", "index", "found"], Field(description="its record, its index, the papers found")
    ]


class RankedPaper(TypedDict):
    """A paper of the list, ordered by `score`."""

    rank: Annotated[int, Field(ge=1)]
    id: str
    score: float
    why: str
    relevance: Score
    relevant: bool
    authority: float
    cited: Annotated[Cited | None, Field(description="null if not counted")]
    timeliness: float
    reason: str
    judged_by: Annotated[str, Field(description="a model's name, words or cosine")]
    parts: dict[str, float]
    found_by: list[FoundBy]
    sources: list[FoundIn]
    title: NotRequired[str]
    title2: NotRequired[str]
    abstract: NotRequired[str]
    authors: NotRequired[list[str]]
    year: NotRequired[int]
    journal: NotRequired[str]
    doi: NotRequired[str]
    url: NotRequired[str]
    lang: NotRequired[Language]
    cited_by_count: NotRequired[int]


class NearPaper(TypedDict):
    """A paper whose relevance is just below the threshold."""

    id: str
    relevance: Score
    title: str
    reason: str
    year: NotRequired[int]
    lang: NotRequired[Language]
    url: NotRequired[str]


class QueryOfSearch(TypedDict):
    """A query and the number of papers that it found; null if it was not sent yet."""

    text: str
    kind: Literal["question", "expanded", "method", "application", "limitation"]
    round: int
    paper: Annotated[str | None, Field(description="the paper from which it was evolved")]
    found: int | None


class Understanding(TypedDict):
    """The interpretation of a question."""

    intent: Literal["survey", "recent", "comparison", "specific", "other"]
    domain: str
    first_year: int | None
    last_year: int | None
    recent: bool
    sources: list[str]
    sources_reason: str
    expands: bool
    expansion_reason: str
    queries: list[str]
    by: Annotated[str, Field(description="model or rules")]
    notes: list[str]


class Spent(TypedDict):
    """The cost of a search: model calls and their tokens, seconds, judged papers."""

    calls: int
    tokens: int
    seconds: float
    papers: int


class TreePaper(TypedDict):
    """A paper below its first source; a repeated paper has only its id."""

    paper: str
    title: NotRequired[str]
    score: NotRequired[Annotated[float | None, Field(description="null if not judged")]]
    relevant: NotRequired[bool]
    reason: NotRequired[str]
    year: NotRequired[int]
    lang: NotRequired[Language]
    url: NotRequired[str]
    references: NotRequired[list["TreePaper"]]
    cited_by: NotRequired[list["TreePaper"]]
    evolved: NotRequired[list["TreeQuery"]]


class TreeQuery(TypedDict):
    """A query and the papers that it found first, at most 300."""

    query: str
    kind: str
    papers: list[TreePaper]


class SearchSoFar(TypedDict):
    """The state of a search for papers."""

    question: str
    index: Annotated[str | None, Field(description="null if sources were searched")]
    sources: NotRequired[list[str]]
    understanding: Understanding | None
    papers: list[RankedPaper]
    near: Annotated[
        list[NearPaper],
        Field(description="papers just below the threshold, if fewer are relevant than requested"),
    ]
    queries: list[QueryOfSearch]
    known: Annotated[int, Field(description="papers examined")]
    relevant: int
    spent: Spent
    complete: Annotated[bool, Field(description="false if a budget or the server ended it")]
    notes: list[str]
    milliseconds: float
    tree: list[TreeQuery]


class FoundPapers(SearchSoFar):
    """Found papers, best first, with their origin."""

    search: NotRequired[Annotated[str, Field(description="the id of the kept search")]]


class KeptHead(TypedDict):
    """A kept search without its papers; times are in UTC."""

    id: str
    index: str | None
    sources: NotRequired[list[str]]
    request: Annotated[dict[str, Any], Field(description="the fields of the call")]
    created: str
    updated: str
    running: bool
    known: int
    relevant: int
    spent: Spent
    complete: bool
    notes: list[str]


class KeptSearches(TypedDict):
    """The caller's searches, newest first."""

    searches: list[KeptHead]


class KeptSearch(SearchSoFar):
    """A kept search and its papers, in their final order; ordered by rules if the search was interrupted."""

    id: str
    request: dict[str, Any]
    created: str
    updated: str
    running: bool


class SearchEvent(TypedDict):
    """The id of the kept search; the first event, omitted if the search cannot be kept."""

    id: str


class FindingStepEvent(TypedDict):
    """The start of a step."""

    name: Literal["understanding", "retrieval", "judgement", "refchain", "evolver", "reranking"]
    round: int
    layer: NotRequired[Annotated[int, Field(description="of references", ge=1)]]


class SentQueriesEvent(TypedDict):
    """Queries that are new or have now been sent, identified by their text."""

    queries: list[QueryOfSearch]


class SeenPaper(TypedDict):
    """A paper with its first source; the score is null if it was not judged."""

    id: str
    title: str
    year: NotRequired[int]
    lang: NotRequired[Language]
    url: NotRequired[str]
    score: Score | None
    relevant: bool
    reason: str
    judged_by: str
    layer: Annotated[int, Field(description="0 if a query found it")]
    found_by: FoundBy


class PapersEvent(TypedDict):
    """Papers that are new or have now been judged, identified by their id."""

    papers: Annotated[list[SeenPaper], Field(max_length=100)]


class SpentEvent(Spent):
    """The cost so far, and the numbers of relevant and known papers."""

    relevant: int
    known: int
