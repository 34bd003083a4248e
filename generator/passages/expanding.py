"""Query expansion: two further queries and two hypothetical answers, by a model or a substitute.

There are exactly two of each (paper-QA, section 3). A reply with more or fewer texts is sent back once for
repair. A reply that repeats the question or itself is a failure. The model may write in either language.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from generator.answers.extractive import quoted_answer, searched_terms
from generator.llm import Reply
from generator.model_step import ModelStep, UnusableReply
from generator.passages.retrieving import PassageQuestion, QueryText
from generator.prompts import load_prompt
from generator.tracing.progress import all_of
from generator.tracing.steps import Step
from indexer.corpora.papers import language_of
from retriever.views.passage_search import further_queries_from_statistics, search_passages

FIRST_RETRIEVAL = 10  # passages whose best sentences replace hypotheses

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class TwoTexts(BaseModel):
    """Reply schema."""

    texts: Annotated[list[Text], Field(min_length=2, max_length=2)]


@dataclass(frozen=True, slots=True)
class Expansion:
    """A kind of additional query texts: the model's prompt, and the substitute without a model.

    `step` and `substitute` name the steps, `name` the texts.
    """

    step: str
    prompt: str
    name: str
    substitute: str
    without_model: Callable[[PassageQuestion], Awaitable[Sequence[str]]]


async def _quoted(asked: PassageQuestion) -> Sequence[str]:
    """Return at most two sentences of a first retrieval that cover most of the question."""
    index, settings = asked.resources.index, asked.resources.settings.retriever
    search = asked.search(asked.text, FIRST_RETRIEVAL)
    found = await search_passages(index, search, settings, topic=asked.topic)
    terms = await searched_terms(found, index, settings)
    quoted = await quoted_answer(found, index, terms, 0.0, 2, findings=False)
    return [sentence.text for sentence in quoted.sentences]


async def _from_statistics(asked: PassageQuestion) -> Sequence[str]:
    resources = asked.resources
    return await further_queries_from_statistics(resources.index, asked.text, resources.settings.retriever)


FURTHER_QUERIES = Expansion("queries", "further_queries", "query", "statistical-queries", _from_statistics)
HYPOTHESES = Expansion("hypotheses", "hypotheses", "hypothesis", "quoted-hypotheses", _quoted)


async def expand(parent: Step, asked: PassageQuestion, *expansions: Expansion) -> list[QueryText]:
    """Return two texts of each expansion; a substitute may find fewer in a small index."""
    made = await all_of(_expand(parent, asked, expansion) for expansion in expansions)
    return [text for texts in made for text in texts]


async def _expand(parent: Step, asked: PassageQuestion, expansion: Expansion) -> list[QueryText]:
    async def substitute() -> Sequence[str]:
        with parent.step(expansion.substitute, question=asked.text) as step:
            texts = await expansion.without_model(asked)
            step.output = list(texts)
        return texts

    model = asked.resources.model
    texts = await expansion_step(asked.text, expansion, substitute).run(parent, model)
    return [QueryText(f"{expansion.name} {number}", text) for number, text in enumerate(texts, 1)]


def expansion_step(
    question: str, expansion: Expansion, substitute: Callable[[], Awaitable[Sequence[str]]]
) -> ModelStep[TwoTexts, Sequence[str]]:
    """Return the step that asks for two texts; they must differ from the question and from each other."""

    async def read(reply: Reply[TwoTexts]) -> Sequence[str]:
        texts = reply.value.texts
        if len({_letters(text) for text in (question, *texts)}) <= len(texts):
            raise UnusableReply("repeated the question or itself")
        return texts

    return ModelStep(
        expansion.step,
        load_prompt(expansion.prompt, language_of(question)),
        {"question": question},
        TwoTexts,
        read=read,
        fallback=expansion.substitute,
        otherwise=substitute,
        inputs={"question": question},
        output=list,
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
