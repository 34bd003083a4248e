"""Papers that were found, how each was found, and the events by which they arrive."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.api.shapes.searches import FoundIn, Language

Score = Annotated[float, Field(ge=0, le=1)]


class FoundBy(TypedDict):
    """How a paper was found: by a query, or as a reference of, or as citing, a paper."""

    kind: Literal["query", "reference", "citing"]
    of: Annotated[str, Field(description="the query's text, or the paper's id")]
    rank: Annotated[int, Field(ge=1)]


class Cited(TypedDict):
    """How often a paper is cited, and by what that was counted."""

    count: int
    by: Annotated[
        Literal["record", "index", "found"], Field(description="its record, its index, the papers found")
    ]


class RankedPaper(TypedDict):
    """A paper of the list; `score` is what it is ordered by."""

    rank: Annotated[int, Field(ge=1)]
    id: str
    score: float
    why: str
    relevance: Score
    relevant: bool
    authority: float
    cited: Annotated[Cited | None, Field(description="null where nobody counted")]
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
    """A paper that was judged to be just not relevant enough."""

    id: str
    relevance: Score
    title: str
    reason: str
    year: NotRequired[int]
    lang: NotRequired[Language]
    url: NotRequired[str]


class QueryOfSearch(TypedDict):
    """A query, and how many papers it found; null where it was not sent yet."""

    text: str
    kind: Literal["question", "expanded", "method", "application", "limitation"]
    round: int
    paper: Annotated[str | None, Field(description="the paper that it was evolved from")]
    found: int | None


class Understanding(TypedDict):
    """What a question was understood to want."""

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
    """What a search has spent: calls of the model and their tokens, seconds, papers judged."""

    calls: int
    tokens: int
    seconds: float
    papers: int


class TreePaper(TypedDict):
    """A paper under what brought it first; one that stands further up has its id alone."""

    paper: str
    title: NotRequired[str]
    score: NotRequired[Annotated[float | None, Field(description="null where it was not judged")]]
    relevant: NotRequired[bool]
    reason: NotRequired[str]
    year: NotRequired[int]
    lang: NotRequired[Language]
    url: NotRequired[str]
    references: NotRequired[list["TreePaper"]]
    cited_by: NotRequired[list["TreePaper"]]
    evolved: NotRequired[list["TreeQuery"]]


class TreeQuery(TypedDict):
    """A query, and the papers that it brought first; 300 at most."""

    query: str
    kind: str
    papers: list[TreePaper]


class SearchSoFar(TypedDict):
    """What a search for papers has come to."""

    question: str
    index: Annotated[str | None, Field(description="null where sources were asked")]
    sources: NotRequired[list[str]]
    understanding: Understanding | None
    papers: list[RankedPaper]
    near: Annotated[
        list[NearPaper],
        Field(description="those next below the threshold, where fewer are relevant than asked"),
    ]
    queries: list[QueryOfSearch]
    known: Annotated[int, Field(description="papers looked at")]
    relevant: int
    spent: Spent
    complete: Annotated[bool, Field(description="false where a budget or the server ended it")]
    notes: list[str]
    milliseconds: float
    tree: list[TreeQuery]


class FoundPapers(SearchSoFar):
    """Papers found, best first, and how."""

    search: NotRequired[Annotated[str, Field(description="the id by which it is kept")]]


class KeptHead(TypedDict):
    """A kept search without its papers; times are in UTC."""

    id: str
    index: str | None
    sources: NotRequired[list[str]]
    request: Annotated[dict[str, Any], Field(description="what the call named")]
    created: str
    updated: str
    running: bool
    known: int
    relevant: int
    spent: Spent
    complete: bool
    notes: list[str]


class KeptSearches(TypedDict):
    """The caller's own searches, newest first."""

    searches: list[KeptHead]


class KeptSearch(SearchSoFar):
    """A kept search and its papers, as they stood when it ended; of one that broke off by rules."""

    id: str
    request: dict[str, Any]
    created: str
    updated: str
    running: bool


class SearchEvent(TypedDict):
    """Under which id the search is kept; the first event, left out where it cannot be kept."""

    id: str


class FindingStepEvent(TypedDict):
    """What has begun."""

    name: Literal["understanding", "retrieval", "judgement", "refchain", "evolver", "reranking"]
    round: int
    layer: NotRequired[Annotated[int, Field(description="of references", ge=1)]]


class SentQueriesEvent(TypedDict):
    """Queries that are new, or were sent now; the text tells which."""

    queries: list[QueryOfSearch]


class SeenPaper(TypedDict):
    """A paper with the first way that led to it; not judged where the score is null."""

    id: str
    title: str
    year: NotRequired[int]
    lang: NotRequired[Language]
    url: NotRequired[str]
    score: Score | None
    relevant: bool
    reason: str
    judged_by: str
    layer: Annotated[int, Field(description="0 where a query brought it")]
    found_by: FoundBy


class PapersEvent(TypedDict):
    """Papers that are new, or were judged now; the id tells which."""

    papers: Annotated[list[SeenPaper], Field(max_length=100)]


class SpentEvent(Spent):
    """What was spent, and how many papers are relevant, and known."""

    relevant: int
    known: int
