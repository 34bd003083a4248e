"""The tool `ask`: answers a question; every sentence is cited and checked."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from generator.answers.answer import Section
from generator.calls import AskCall
from generator.checking.check import Check, Hint
from generator.pipeline import answer_question
from indexer.corpora.papers import Language
from retriever.strategy import Strategy
from server.addresses import hit_address
from server.cited_text import CitedText
from server.mcp.papers import AMONG_PAPERS, STRATEGY, paper_id
from server.mcp.tool import Argument, Tool, ToolContext, ToolResult
from server.model_address import without_address

MOST_EVIDENCE = 20  # a model reads the answer


class CheckedSentence(BaseModel):
    """A sentence of an answer, its citations, and the result of its check."""

    text: str
    section: Section
    references: Annotated[list[int], Field(description="numbers of `references`")]
    check: Annotated[
        Check,
        Field(description="supported, unsupported, not checked or excluded; quoted: the words of a paper"),
    ]
    hints: Annotated[list[Hint], Field(description="what speaks against the sentence")] = []


class NearPassage(BaseModel):
    """A passage of a paper."""

    id: Annotated[str, Field(description="for `fetch`")]
    passage_id: str
    title: str
    url: Annotated[str, Field(description="address of the passage for a reader")]


class CitedPassage(NearPassage):
    """A passage that an answer cites."""

    number: int


class CheckedAnswer(BaseModel):
    """An answer with citations, each sentence checked against the passages it cites."""

    answer: Annotated[
        str, Field(description="the whole answer as text, `[1]` citing the first of `references`")
    ]
    title: str
    title_check: Annotated[Check | None, Field(description="for a title written by a model")] = None
    title_hints: Annotated[list[Hint], Field(description="what speaks against the title")] = []
    checked_by: Annotated[str, Field(description="the model that checked the sentences, if any")] = ""
    abstained: Annotated[bool, Field(description="the papers found do not answer the question")]
    likelihood: Annotated[float | None, Field(description="probability that the papers answer, 0 to 1")]
    unknown_words: Annotated[list[str], Field(description="words of the question that no paper contains")]
    language: Language
    written_by: Annotated[str, Field(description="the model, or `extractive`: quoted from the papers")]
    sentences: list[CheckedSentence]
    references: list[CitedPassage]
    strategy: Annotated[Strategy | None, Field(description="by which the papers were found")] = None
    nearest: Annotated[list[NearPassage], Field(description="papers found that do not answer")] = []
    notes: Annotated[list[str], Field(description="notes for a reader of the answer")] = []


async def _run(call: AskCall, context: ToolContext) -> ToolResult:
    services = context.services
    of = await context.open_target(call.index, call.sources)
    request = call.request(services.settings)
    asked = await answer_question(of.opened, request, services.settings, model=services.model_of(request))
    record = asked.as_record()
    answer, unknown = record["answer"], record["unknown_words"]
    notes = without_address(list(asked.result.notes), services.settings)

    def address(hit: Mapping[str, Any]) -> str:
        return hit_address(hit, of.index, context.public)

    text = CitedText(call.question, address)
    text.evidence([hit.as_record() | {"paper": hit.paper} for hit in asked.evidence], record["likelihood"])
    sentences = "".join(map(text.sentence, answer["sentences"]))
    written = sentences + text.end(answer, notes, unknown)
    values = CheckedAnswer(
        answer=written,
        title=asked.answer.title,
        title_check=asked.answer.title_check,
        title_hints=list(asked.answer.title_hints),
        checked_by=asked.answer.checked_by,
        abstained=asked.answer.abstained,
        likelihood=record["likelihood"],
        unknown_words=unknown,
        language=asked.answer.language,
        written_by=asked.answer.written_by,
        sentences=[
            CheckedSentence(
                text=sentence.text,
                section=sentence.section,
                references=[text.references[each].number for each in sentence.citations],
                check=sentence.check,
                hints=list(sentence.hints),
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
        nearest=[
            NearPassage(
                id=paper_id(of, hit.doc_id),
                passage_id=hit.passage_id,
                title=hit.passage.title,
                url=address(hit.as_record()),
            )
            for hit in (asked.evidence if asked.answer.abstained else ())
        ],
        strategy=asked.result.strategy,
        notes=notes,
    )
    return ToolResult(values, written)


TOOL = Tool(
    name="ask",
    title="Answer from scholarly papers",
    description=(
        "Answer a question from Korean and English scholarly papers. Returns an answer in the question's "
        "language, every sentence with the passages it cites and a check whether they support it, and the "
        "references. Without a language model it returns sentences quoted from the papers, which may help. "
        "If the papers do not answer it says so, names unknown words and lists the nearest papers. Slower "
        "than `search`; use it for a question that papers can answer, and `search` and `fetch` to read for "
        "yourself."
    ),
    call=AskCall,
    arguments={
        "question": Argument("question", "One question, Korean or English.", required=True),
        "k": Argument("evidence", "Number of papers as evidence; default 5.", most=MOST_EVIDENCE),
        "strategy": STRATEGY,
        **AMONG_PAPERS,
    },
    output=CheckedAnswer,
    work="ask",
    run=_run,
)
