"""An answer with its evidence, and the events by which it arrives."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.api.shapes.searches import Bridge, Concept, Constraints, Filtered, Found, Hit, Keyword, SentQuery

Check = Literal["supported", "unsupported", "not checkable", "excluded", "quoted"]


class Reason(TypedDict):
    """What speaks against a sentence, and the words that it is about."""

    sign: str
    words: str


class Sentence(TypedDict):
    """A sentence of an answer, the passages that it rests on, and what their check says."""

    text: str
    section: Annotated[
        Literal["introduction", "body", "conclusion", "passages"],
        Field(description="passages: of quoted sentences, the only section of their answer"),
    ]
    citations: Annotated[list[str], Field(description="passage_ids of the evidence")]
    check: Check
    reasons: NotRequired[list[Reason]]


class Answer(TypedDict):
    """A cited answer; if it `abstained`, the evidence is the papers nearest to the question."""

    title: str
    introduction: Annotated[str, Field(description="of an abstaining answer it starts with the statement")]
    body: Annotated[str, Field(description="empty, like the other two, where sentences are quoted")]
    conclusion: str
    language: Literal["ko", "en", "other"]
    written_by: Annotated[str, Field(description='the model\'s name, or "extractive"')]
    abstained: bool
    sentences: list[Sentence]
    checked_by: NotRequired[Annotated[str, Field(description="the model that judged, where one did")]]
    title_check: NotRequired[Annotated[Check, Field(description="of a title that a model wrote")]]
    title_reasons: NotRequired[list[Reason]]


class AnswerResult(Found):
    """A search's result with the answer, and the evidence that it rests on."""

    answer: Answer
    evidence: list[Hit]


class EvidenceHit(Hit):
    """A hit with the text of its passage and its paper's record."""

    text: str
    paper: dict[str, Any]


class StepEvent(TypedDict):
    """What has begun."""

    name: Annotated[str, Field(description="question, keywords, search, answer, check, quotation")]


class QuestionEvent(TypedDict):
    """What is asked in place of a question that needed earlier ones."""

    question: str


class KeywordsEvent(TypedDict):
    """The keywords, and who chose them; null where the method has none."""

    keywords: list[Keyword]
    source: Literal["model", "statistics", "given"] | None


class QueriesEvent(TypedDict):
    """The queries, and what each found."""

    queries: list[SentQuery]


class EvidenceEvent(TypedDict):
    """The papers that the answer rests on; later ones take the place of those before."""

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
    """A sentence by its place in the answer, from 0."""

    index: int


class CheckEvent(TypedDict):
    """What a judge says of a sentence that was sent."""

    index: int
    check: Check
    reasons: list[Reason]
