"""Brief answers from passages, and temporary answers that guide re-ranking."""

from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, cast

from pydantic import BaseModel, Field, create_model

from generator.answer_step import answer_step
from generator.answers.answer import WayResult
from generator.answers.model_answer import AnswerForm, Title, WrittenAnswer, WrittenSentence, answer_schema
from generator.llm import CutAt
from generator.passages.retrieving import PassageQuestion
from generator.tracing.steps import Step
from retriever.stages.hits import SearchResult

MOST_SENTENCES = 3  # written or quoted
MOST_READ = 10  # limit for servers that do not enforce the schema


class BriefAnswer(BaseModel):
    """Reply schema; the reasoning comes first, so that the answer follows from it."""

    reasoning: Annotated[str, CutAt(2_000)] = ""
    title: Title
    body: list[WrittenSentence]
    answered: bool

    @property
    def introduction(self) -> list[WrittenSentence]:
        """Empty: a brief answer has only a body."""
        return []

    @property
    def conclusion(self) -> list[WrittenSentence]:
        """Empty, like the introduction."""
        return []


@lru_cache
def brief_schema(passages: int) -> type[WrittenAnswer]:
    """Return the schema of a brief answer from a number of passages."""
    sentences = answer_schema(passages).model_fields["body"].annotation
    bounds = Field(max_length=MOST_READ, json_schema_extra={"maxItems": MOST_SENTENCES})
    fields: dict[str, Any] = {"body": (Annotated[sentences, bounds], ...)}
    written = create_model("BriefAnswer", __base__=BriefAnswer, **fields)
    return cast("type[WrittenAnswer]", written)


def brief_form(asked: PassageQuestion) -> AnswerForm:
    """Return the form of brief answers; the prompt contains the title of the topic."""
    topic = asked.topic.title if asked.topic else ""
    return AnswerForm("brief_answer", brief_schema, ("body",), MOST_SENTENCES, {"topic": topic})


async def answer_briefly(parent: Step, asked: PassageQuestion, result: SearchResult) -> WayResult:
    """Answer from the remaining passages; abstain if there are none."""
    parent.publish(result)
    return WayResult(await answer_step(parent, result, asked.resources, brief_form(asked)), result)


async def draft_answer(parent: Step, asked: PassageQuestion, result: SearchResult) -> tuple[str, ...]:
    """Return the sentences of a temporary answer from passages; none if it abstains."""
    with parent.step("draft", passages=[hit.passage_id for hit in result.hits]) as drafting:
        form = replace(brief_form(asked), quotes_findings=False)  # its words are compared with passages
        drafted = await answer_step(drafting, result, asked.resources, form, judges=False)
        sentences = tuple(each.text for each in drafted.sentences[:MOST_SENTENCES])
        sentences = () if drafted.abstained else sentences
        drafting.output = list(sentences)
        # If the server was too slow, later steps do not wait for it again.
        drafting.failure = next((call.failure for call in drafting.children if call.failure), None)
    return sentences
