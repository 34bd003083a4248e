"""Rewriting of the last question of a conversation as a standalone question."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from generator.follow_up_questions import may_follow, with_earlier_subject
from generator.llm import Reply
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.request import AskRequest, Resources, Turn
from generator.tracing.steps import Step
from indexer.corpora.papers import language_of
from retriever.methods import method_named
from retriever.request import check_question

LONGEST_QUESTION = 2_000  # characters; a longer question is taken as standalone
# Limits of the earlier turns in the prompt, in characters: in all, and for each question and answer.
MOST_CHARACTERS = 6_000
LONGEST_TURNS = {"user": 1_000, "assistant": 600}
BY_RULES = "keywords of the earlier question"
NOT_READ = "the earlier turns of the conversation were not taken into account"
UNCLEAR = f"{NOT_READ}; if the question continues them, name its subject"


class StandaloneQuestion(BaseModel):
    """Reply schema; `question` is used only if `depends` is true."""

    depends: bool
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


async def question_step(parent: Step, request: AskRequest, resources: Resources) -> AskRequest:
    """Return the request with a standalone question, written in a step of its own.

    The language model writes it. Without a model, or if it fails, a follow-up gets keywords of the earlier
    question. A note says if the earlier turns are not used. A changed request is published to the parent's
    listener.

    Raises:
        BadQuestion: the question cannot be searched for.
        RetrieverError: a search fails.
    """
    if not request.turns:
        return request
    check_question(request.question)
    if len(request.question) > LONGEST_QUESTION:
        parent.notes.append(NOT_READ)
        return request
    by_rules = partial(_by_rules, parent, request, resources)
    standalone = standalone_step(request.turns, request.question, by_rules)
    question = await standalone.run(parent, resources.model)
    if question == request.question:
        return request
    request = replace(request, question=question)
    parent.publish(request)
    return request


async def _by_rules(parent: Step, request: AskRequest, resources: Resources) -> str:
    """Return a follow-up question with the subject of an earlier one; other questions are unchanged."""
    question, index = request.question, resources.index
    if not method_named(request.method).is_expression and await may_follow(question, index):
        with parent.step("question", question=question, turns=len(request.turns)) as step:
            settings = resources.settings.retriever
            question = await with_earlier_subject(request.turns, question, index, settings)
            step.output = question
    if question == request.question:
        parent.notes.append(UNCLEAR if await may_follow(question, index) else NOT_READ)
    return question


def standalone_step(
    turns: Sequence[Turn], question: str, otherwise: Callable[[], Awaitable[str]]
) -> ModelStep[StandaloneQuestion, str]:
    """Return the step that asks for a standalone form of `question`, which follows `turns` (oldest first)."""

    async def read(reply: Reply[StandaloneQuestion]) -> str:
        return reply.value.question if reply.value.depends else question

    return ModelStep(
        "question",
        load_prompt("question", language_of(question)),
        {"turns": shown_turns(turns), "question": question},
        StandaloneQuestion,
        read=read,
        fallback=BY_RULES,
        otherwise=otherwise,
        inputs={"question": question, "turns": len(turns)},
        output=str,
    )


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
