"""The tool `ask`: a question in, an answer out whose every sentence is cited and checked."""

from typing import Annotated

from pydantic import BaseModel, Field

from generator.pipeline import answer_question
from retriever.request import MOST_CHARACTERS
from server.addresses import hit_address
from server.api.requests import AskCall
from server.cited_text import CitedText
from server.mcp.papers import AmongPapers, paper_id
from server.mcp.tool import Desk, Given, Tool
from server.model_address import without_address


class AskArguments(AmongPapers):
    """A question, and among which papers its answer is looked for."""

    question: Annotated[str, Field(max_length=MOST_CHARACTERS, description="one question, Korean or English")]
    k: Annotated[int | None, Field(ge=1, le=20, description="papers that the answer rests on; else 5")] = None


class CheckedSentence(BaseModel):
    """A sentence of an answer, what it cites, and what its check says."""

    text: str
    section: str
    references: Annotated[list[int], Field(description="numbers of `references`")]
    check: Annotated[str, Field(description="supported, unsupported, not checkable or excluded")]
    reasons: Annotated[list[str], Field(description="what speaks against the sentence")] = []


class CitedPassage(BaseModel):
    """A passage that an answer cites."""

    number: int
    id: Annotated[str, Field(description="what `fetch` is called with")]
    passage_id: str
    title: str
    url: Annotated[str, Field(description="where a reader finds the passage")]


class CheckedAnswer(BaseModel):
    """An answer with citations, each sentence checked against the passages it cites."""

    answer: Annotated[str, Field(description="the whole as text, `[1]` citing the first of `references`")]
    title: str
    abstained: Annotated[bool, Field(description="the papers found do not answer the question")]
    language: str
    written_by: Annotated[str, Field(description="the model, or `extractive`: quoted from the papers")]
    sentences: list[CheckedSentence]
    references: list[CitedPassage]
    notes: Annotated[list[str], Field(description="what a reader of the answer should know")] = []


async def _run(arguments: AskArguments, desk: Desk) -> Given:
    services = desk.services
    of = await desk.asked_of(arguments.index, arguments.sources or ())
    call = AskCall(question=arguments.question, evidence=arguments.k, **arguments.filters())
    request = call.request(services.settings)
    asked = await answer_question(of.opened, request, services.settings, model=services.model)
    answer = asked.answer.as_record()
    notes = without_address(list(asked.result.notes), services.settings)
    text = CitedText(arguments.question, lambda hit: hit_address(hit, of.index, desk.public))
    text.evidence(hit.as_record() | {"paper": hit.paper} for hit in asked.evidence)
    written = "".join(text.sentence(record) for record in answer["sentences"]) + text.end(answer, notes)
    values = CheckedAnswer(
        answer=written,
        title=asked.answer.title,
        abstained=asked.answer.abstained,
        language=asked.answer.language,
        written_by=asked.answer.written_by,
        sentences=[
            CheckedSentence(
                text=sentence.text,
                section=sentence.section,
                references=[text.references[each].number for each in sentence.citations],
                check=sentence.check,
                reasons=[f"{reason.sign}: {reason.words}" for reason in sentence.reasons],
            )
            for sentence in asked.answer.sentences
        ],
        references=[
            CitedPassage(
                number=each.number,
                id=paper_id(of, each.doc_id),
                passage_id=each.passage_id,
                title=each.title,
                url=each.url,
            )
            for each in text.references.values()
        ],
        notes=notes,
    )
    return Given(values, written)


TOOL = Tool(
    name="ask",
    title="Answer from scholarly papers",
    description=(
        "Answer a question from Korean and English scholarly papers. Returns an answer in the question's "
        "language, every sentence with the passages it rests on and a check whether they support it, and the "
        "references. It says so where the papers do not answer. Slower than `search`; use it for a question "
        "that papers can answer, and `search` and `fetch` to read for yourself."
    ),
    arguments=AskArguments,
    output=CheckedAnswer,
    work="ask",
    run=_run,
)
