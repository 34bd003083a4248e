"""An answer with its evidence, and the events in which it arrives."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.api.shapes.searches import Bridge, Concept, Constraints, Filtered, Found, Hit, Keyword, SentQuery

Check = Literal["supported", "unsupported", "not checkable", "excluded", "quoted"]


class Reason(TypedDict):
    """A sign of missing support for a sentence, and the words concerned."""

    sign: str
    words: str


class Sentence(TypedDict):
    """A sentence of an answer, the passages that it cites, and the result of its check."""

    text: str
    section: Annotated[
        Literal["introduction", "body", "conclusion", "passages"],
        Field(description="passages: quoted sentences, the only section of their answer"),
    ]
    citations: Annotated[list[str], Field(description="passage_ids of the evidence")]
    check: Check
    reasons: NotRequired[list[Reason]]


class Answer(TypedDict):
    """A cited answer; if it `abstained`, the evidence is the papers nearest to the question."""

    title: str
    introduction: Annotated[str, Field(description="an abstaining answer starts with the statement")]
    body: Annotated[str, Field(description="empty, like the other two, if sentences are quoted")]
    conclusion: str
    language: Literal["ko", "en", "other"]
    written_by: Annotated[str, Field(description='the model\'s name, or "extractive"')]
    abstained: bool
    sentences: list[Sentence]
    checked_by: NotRequired[Annotated[str, Field(description="the model that checked the sentences, if any")]]
    title_check: NotRequired[Annotated[Check, Field(description="for a title written by a model")]]
    title_reasons: NotRequired[list[Reason]]


class AnswerResult(Found):
    """A search result with the answer and its evidence."""

    answer: Answer
    evidence: list[Hit]


class EvidenceHit(Hit):
    """A hit with the text of its passage and its paper's record."""

    text: str
    paper: dict[str, Any]


class StepEvent(TypedDict):
    """The start of a step."""

    name: Annotated[str, Field(description="question, keywords, search, answer, check, quotation")]


class QuestionEvent(TypedDict):
    """The standalone question that replaces one that refers to earlier ones."""

    question: str


class KeywordsEvent(TypedDict):
    """The keywords and their source; null if the method has none."""

    keywords: list[Keyword]
    source: Literal["model", "statistics", "given"] | None


class QueriesEvent(TypedDict):
    """The queries and their hits."""

    queries: list[SentQuery]


class EvidenceEvent(TypedDict):
    """The papers that the answer is based on; later events replace earlier ones."""

    hits: list[EvidenceHit]
    version: int | None
    filtered: Filtered
    likelihood: float | None
    unknown_words: list[str]
    constraints: Constraints
    concepts: list[Concept]
    bridges: list[Bridge]
    order: str
    notes: list[str]


class RestartEvent(TypedDict):
    """The sentences sent so far are withdrawn."""

    reason: Literal["again", "fallback", "changed"]
    message: str


class SentenceEvent(Sentence):
    """A sentence and its position in the answer, from 0."""

    index: int


class CheckEvent(TypedDict):
    """The judge's result for a sentence that was already sent."""

    index: int
    check: Check
    reasons: list[Reason]
