"""The answer of a call for a document: answer and evidence as `ask` returned them, without further fields."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generator.answers.answer import Section
from generator.answers.cited_answer import CitedAnswer, CitedSentence
from generator.calls import MOST_EVIDENCE
from generator.checking.check import Check
from indexer.corpora.papers import Language
from retriever.calls import LONGEST_PASSAGE_ID
from retriever.request import MAX_CHARACTERS

MOST_CITED = 200  # papers of a document: a style takes about 10 ms each
MOST_SENTENCES = 500
MOST_CITATIONS = 100
LONGEST_SENTENCE = 20_000
LONGEST_TITLE = 2_000
LONGEST_NAME = 300

PassageId = Annotated[str, Field(max_length=LONGEST_PASSAGE_ID)]


class _Sent(BaseModel):
    """A value that an earlier response contained; its other fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class SentenceToCite(_Sent):
    """A sentence of the answer."""

    text: Annotated[str, Field(max_length=LONGEST_SENTENCE, examples=["Methane fell by 37%."])]
    section: Annotated[Section, Field(examples=["body"])]
    citations: Annotated[
        tuple[PassageId, ...],
        Field(max_length=MOST_CITATIONS, description="passage_ids", examples=[["SAMPLE-BAT-011"]]),
    ] = ()
    check: Annotated[Check, Field(examples=["supported"])]


class AnswerToCite(_Sent):
    """The answer of `ask`, with the question as its heading, if given."""

    question: Annotated[str, Field(max_length=MAX_CHARACTERS)] = ""

    title: Annotated[str, Field(max_length=LONGEST_TITLE)] = ""
    introduction: Annotated[
        str, Field(max_length=LONGEST_SENTENCE, description="the statement of an abstention")
    ] = ""
    sentences: Annotated[tuple[SentenceToCite, ...], Field(max_length=MOST_SENTENCES)]
    language: Language = "en"
    written_by: Annotated[str, Field(max_length=LONGEST_NAME)] = "extractive"
    abstained: bool = False


class EvidenceToCite(_Sent):
    """A passage of the evidence, and its paper."""

    passage_id: Annotated[PassageId, Field(examples=["SAMPLE-BAT-011"])]
    doc_id: Annotated[PassageId, Field(examples=["SAMPLE-BAT-011"])]


Evidence = Annotated[
    tuple[EvidenceToCite, ...],
    Field(max_length=MOST_EVIDENCE, description="of `answer`: the evidence of `ask`"),
]


def answer_to_cite(answer: AnswerToCite, evidence: tuple[EvidenceToCite, ...]) -> CitedAnswer:
    """Return the answer with the papers that its sentences cite; citations of other passages are left out."""
    papers = {each.passage_id: each.doc_id for each in evidence}
    return CitedAnswer(
        answer.title,
        tuple(
            CitedSentence(
                sentence.text,
                sentence.section,
                tuple(dict.fromkeys(papers[cited] for cited in sentence.citations if cited in papers)),
                sentence.check,
            )
            for sentence in answer.sentences
        ),
        answer.language,
        answer.written_by,
        answer.introduction if answer.abstained else "",
        answer.question.strip(),
    )
