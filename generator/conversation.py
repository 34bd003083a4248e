"""The last question of a conversation made one that stands alone, so that it can be searched for."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from generator.llm import LanguageModel, OnText
from generator.model_step import FromModel, model_step
from generator.prompts import load_prompt
from generator.request import AskRequest, Turn
from generator.steps import Step
from indexer.papers import language_of
from retriever.request import check_question

LONGEST_QUESTION = 2_000  # characters; a longer one holds all that it asks about
# Characters of the earlier turns that the model is shown, the newest first: of all, of a question, an answer.
MOST_CHARACTERS = 6_000
LONGEST_TURNS = {"user": 1_000, "assistant": 600}
AS_IT_IS = "the question as it is"
NOT_READ = "the earlier turns of the conversation were not taken into account"


class StandaloneQuestion(BaseModel):
    """What the model is asked for; `question` counts where it depends on the turns."""

    depends: bool
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


async def question_step(parent: Step, request: AskRequest, model: LanguageModel | None) -> AskRequest:
    """Return the request with a question that needs no earlier turn, asked of the model as a step.

    Without a model, or where it fails, the question stays as it is, and a note says so. Whoever listens to
    the parent is told a request that is another.

    Raises:
        BadQuestion: it cannot be searched for.
    """
    if not request.turns:
        return request
    check_question(request.question)
    if model is None or len(request.question) > LONGEST_QUESTION:
        parent.notes.append(NOT_READ)
        return request
    question = await model_step(
        parent,
        "question",
        partial(standalone_question, request.turns, request.question, model),
        str,
        fallback=f"{AS_IT_IS}, {NOT_READ}",
        question=request.question,
        turns=len(request.turns),
    )
    if not question or question == request.question:
        return request
    request = replace(request, question=question)
    parent.tell(request)
    return request


async def standalone_question(
    turns: Sequence[Turn], question: str, model: LanguageModel, on_text: OnText | None = None
) -> FromModel[str]:
    """Ask for what `question` asks behind `turns`, oldest first; one that stands alone is returned unchanged.

    Raises:
        ModelFailed: the call failed or brought no question.
    """
    prompt = load_prompt("question", language_of(question))
    content = prompt.render(turns=shown_turns(turns), question=question)
    reply = await model.complete_json(
        [{"role": "user", "content": content}],
        StandaloneQuestion,
        name="question",
        prompt_version=prompt.version,
        on_text=on_text,
    )
    return FromModel(reply.value.question if reply.value.depends else question, reply, prompt.version)


def shown_turns(turns: Sequence[Turn]) -> list[str]:
    """Return the newest turns of user and assistant, oldest first, each shortened, within MOST_CHARACTERS."""
    texts = [
        f"{turn.role}: {_shortened(turn.text, LONGEST_TURNS[turn.role])}"
        for turn in reversed(turns)
        if turn.role in LONGEST_TURNS and turn.text.strip()
    ]
    lengths = accumulate(map(len, texts))
    return [text for text, length in zip(texts, lengths, strict=True) if length <= MOST_CHARACTERS][::-1]


def _shortened(text: str, longest: int) -> str:
    text = text.strip()
    return text if len(text) <= longest else f"{text[:longest].rstrip()} …"
