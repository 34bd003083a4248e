"""A brief answer from passages alone, and one for the time being that passages are compared with."""

from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, cast

from pydantic import BaseModel, Field, create_model

from generator.answer_step import answer_step
from generator.answers.answer import WayResult
from generator.answers.model_answer import AnswerForm, Title, WrittenAnswer, WrittenSentence, answer_schema
from generator.llm.structured import CutAt
from generator.passages.asked import PassageQuestion
from generator.tracing.steps import Step
from retriever.stages.hits import SearchResult

MOST_SENTENCES = 3  # written or quoted
MOST_READ = 10  # of a server that does not enforce the schema


class BriefAnswer(BaseModel):
    """What the model is asked for: its reasoning first, as what is written later follows from it."""

    reasoning: Annotated[str, CutAt(2_000)] = ""
    title: Title
    body: list[WrittenSentence]
    answered: bool

    @property
    def introduction(self) -> list[WrittenSentence]:
        """Nothing: a brief answer has a body alone."""
        return []

    @property
    def conclusion(self) -> list[WrittenSentence]:
        """Nothing."""
        return []


@lru_cache
def brief_schema(passages: int) -> type[WrittenAnswer]:
    """Return the schema of a brief answer from so many passages."""
    sentences = answer_schema(passages).model_fields["body"].annotation
    bounds = Field(max_length=MOST_READ, json_schema_extra={"maxItems": MOST_SENTENCES})
    fields: dict[str, Any] = {"body": (Annotated[sentences, bounds], ...)}
    written = create_model("BriefAnswer", __base__=BriefAnswer, **fields)
    return cast("type[WrittenAnswer]", written)


def brief_form(asked: PassageQuestion) -> AnswerForm:
    """Return the form of brief answers; the paper that the question is about stands in the prompt."""
    topic = asked.topic.title if asked.topic else ""
    return AnswerForm("brief_answer", brief_schema, ("body",), MOST_SENTENCES, {"topic": topic})


async def answer_briefly(parent: Step, asked: PassageQuestion, result: SearchResult) -> WayResult:
    """Answer from the passages that are left; from none the answer says that there is none."""
    parent.tell(result)
    return WayResult(await answer_step(parent, result, asked.resources, brief_form(asked)), result)


async def draft_answer(parent: Step, asked: PassageQuestion, result: SearchResult) -> tuple[str, ...]:
    """Return the sentences of a temporary answer from these passages; none where they hold none."""
    with parent.step("draft", passages=[hit.passage_id for hit in result.hits]) as drafting:
        form = replace(brief_form(asked), quotes_findings=False)  # its words are compared with passages
        drafted = await answer_step(drafting, result, asked.resources, form)
        sentences = tuple(each.text for each in drafted.sentences[:MOST_SENTENCES])
        sentences = () if drafted.abstained else sentences
        drafting.output = list(sentences)
        # A server that was too slow for it is not waited for again.
        drafting.failure = next((call.failure for call in drafting.children if call.failure), None)
    return sentences
