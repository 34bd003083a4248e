"""Judgements of readers: a paper helps with a question, or passages support a sentence of an answer.

The page sends a `JudgementCall`, the server appends a `ReaderJudgement` to a file of JSON lines, and
`shrag eval judgements` makes topics, qrels and judged citations of the file. A judgement names its reader
only by a random token that the reader's browser chose, so that a later judgement replaces an earlier one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from base.calls import SOME_TEXT, Call, with_examples
from generator.checking import LONGEST_CLAIM, Check
from retriever.calls import LONGEST_PASSAGE_ID, QUESTION, IndexName, SourceNames
from retriever.papers.page import LONGEST_ID
from retriever.request import MAX_CHARACTERS

Verdict = Literal["helpful", "not helpful", "supported", "not supported"]
MOST_PASSAGES = 100  # of a sentence
DocId = Annotated[str, Field(max_length=LONGEST_ID, pattern=SOME_TEXT)]
PassageId = Annotated[str, Field(max_length=LONGEST_PASSAGE_ID, pattern=SOME_TEXT)]


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence of an answer as the reader saw it: its text, the passages it cites, and its check."""

    text: Annotated[str, Field(max_length=LONGEST_CLAIM, pattern=SOME_TEXT)]
    citations: Annotated[tuple[PassageId, ...], Field(min_length=1, max_length=MOST_PASSAGES)]
    check: Check


class JudgementCall(Call):
    """A reader's judgement of a paper, of a sentence, or of a whole answer."""

    model_config = with_examples({"question": QUESTION, "paper": "SAMPLE-BAT-011", "verdict": "helpful"})

    question: Annotated[
        str,
        Field(
            max_length=MAX_CHARACTERS,
            pattern=SOME_TEXT,
            description="The question that was searched or answered.",
            examples=[QUESTION],
        ),
    ]
    index: IndexName = None
    sources: SourceNames = ()
    verdict: Annotated[
        Verdict,
        Field(
            description="helpful or not helpful: the paper, or the answer; supported or not supported: the "
            "sentence, by the passages that it cites."
        ),
    ]
    paper: Annotated[
        DocId | None, Field(description="The judged paper, by its id.", examples=["SAMPLE-BAT-011"])
    ] = None
    sentence: Annotated[
        JudgedSentence | None, Field(description="The judged sentence of an answer.", examples=[None])
    ] = None
    written_by: Annotated[
        str,
        Field(max_length=200, description="Of an answer, or its sentence: the model, or extractive."),
    ] = ""
    reader: Annotated[
        str,
        Field(
            pattern="^([0-9a-f]{32})?$",
            description="Random token of the reader; a later judgement with the same one replaces this one.",
            examples=["0f" * 16],
        ),
    ] = ""

    @model_validator(mode="after")
    def _judges_one_thing(self) -> Self:
        """Refuse a verdict that does not fit what is judged."""
        of_sentence = self.verdict in {"supported", "not supported"}
        if self.sentence and self.paper:
            raise ValueError("a judgement is of a paper or of a sentence, not of both")
        if of_sentence != (self.sentence is not None):
            raise ValueError("supported and not supported are verdicts on a sentence, the others are not")
        return self


@dataclass(frozen=True, slots=True)
class ReaderJudgement:
    """One line of the file of judgements.

    Args:
        place: the name of the index, or of the sources, joined by a comma.
        day: as YYYY-MM-DD, in UTC; the time of day is not kept.
    """

    question: str
    place: str
    verdict: Verdict
    day: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    reader: str = ""
    paper: str | None = None
    sentence: JudgedSentence | None = None
    written_by: str = ""

    @classmethod
    def of(cls, call: JudgementCall, place: str, day: str) -> Self:
        """Return the judgement of a call."""
        judged = {
            name: getattr(call, name) for name in ("verdict", "reader", "paper", "sentence", "written_by")
        }
        return cls(question=call.question.strip(), place=place, day=day, **judged)

    @property
    def subject(self) -> tuple[str, str, str | None, JudgedSentence | None]:
        """The judged thing, for which a reader's last judgement counts."""
        return self.place, self.question, self.paper, self.sentence


def last_judgements(judgements: Iterable[ReaderJudgement]) -> list[ReaderJudgement]:
    """Return each reader's last judgement of each subject, in the order of the first ones.

    Judgements without a token are of different readers.
    """
    last: dict[object, ReaderJudgement] = {}
    for number, judgement in enumerate(judgements):
        last[(judgement.reader or number, judgement.subject)] = judgement
    return list(last.values())
