"""Model calls of agents as steps within the budget."""

import asyncio
import math
from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel

from generator.errors import ModelAnswerInvalid, ModelFailed, ModelTooSlow
from generator.finding.calls import Wording
from generator.finding.request import FindRequest, FindResources
from generator.llm import OnText
from generator.model_calls.allowance import BudgetSpent
from generator.model_calls.model_step import FromModel, model_step
from generator.prompts import load_prompt
from generator.tracing.steps import Step
from indexer.corpora.papers import Language, Paper

# Names of each agent's prompts, without the language; `judgement` uses the prompt of the requested wording.
PROMPTS: Mapping[str, tuple[str, ...]] = {
    "understanding": ("understanding",),
    "query-writing": ("query_writing",),
    "judgement": ("judgement_brief", "judgement_complex"),
    "evolver": ("evolver",),
    "reranking": ("reranking", "reranking_time"),
}
CHARACTERS_OF_A_TOKEN = 2  # for a high estimate, also of Korean
TITLE_CHARACTERS, ABSTRACT_CHARACTERS = 1_000, 4_000  # limits of a paper in a prompt

T = TypeVar("T", bound=BaseModel)


async def ask_agent(
    parent: Step,
    name: str,
    resources: FindResources,
    schema: type[T],
    *,
    language: Language,
    values: dict[str, str | list[str]],
    fallback: str,
    prompt: str = "",
    **inputs: Any,
) -> T | None:
    """Ask the model with the prompt of the agent; None if it fails, or without a model.

    Raises:
        BudgetSpent: the call, or its retry or repair, would exceed the budget, or the time ended before the
            answer.
    """
    model, allowance = resources.model, resources.allowance
    if model is None:
        return None
    read = load_prompt(prompt or name.replace("-", "_"), language)
    text = read.render(**values)
    reserved = len(text) // CHARACTERS_OF_A_TOKEN + model.settings.max_tokens
    if allowance.time_is_over or not allowance.take(calls=1, tokens=reserved):
        raise BudgetSpent

    taken, refused = 1, False  # reserved requests, and whether the budget refused another
    calls, tokens = 0, 0  # actual cost

    def may_ask_again() -> bool:
        nonlocal taken, refused, calls, tokens
        if not allowance.take(calls=1, tokens=reserved):
            refused = True
            return False
        taken += 1
        calls, tokens = taken, taken * reserved
        return True

    async def ask(on_text: OnText | None) -> FromModel[T]:
        nonlocal calls, tokens
        calls, tokens = 1, reserved
        try:
            reply = await model.complete_json(
                [{"role": "user", "content": text}],
                schema,
                name=name,
                prompt_version=read.version,
                on_text=on_text,
                may_ask_again=may_ask_again,
            )
        except ModelFailed as error:
            wrote = error.attempts and isinstance(error, ModelAnswerInvalid | ModelTooSlow)
            calls, tokens = error.attempts, taken * reserved if wrote else 0
            if refused:
                raise BudgetSpent from error
            raise
        counts = reply.prompt_tokens, reply.completion_tokens
        if reply.from_cache and not model.replays:  # a replay must end at the same point as its recording
            calls, tokens = 0, 0
        else:
            calls = reply.attempts
            tokens = taken * reserved if None in counts else sum(filter(None, counts))
        return FromModel(reply.value, reply, read.version)

    left = allowance.seconds_left
    try:
        async with asyncio.timeout(None if math.isinf(left) else max(0.0, left)):
            return await model_step(
                parent, name, ask, lambda value: value.model_dump(), fallback=fallback, **inputs
            )
    except TimeoutError:
        allowance.end("seconds")
        raise BudgetSpent from None
    finally:
        allowance.settle(calls=calls - taken, tokens=tokens - taken * reserved)


def agent_prompts(request: FindRequest) -> dict[str, int]:
    """Return the versions of the prompts that a search may use: {"evolver.en": 2, …}."""
    names = [name for agent, of in PROMPTS.items() if request.does(agent) for name in of]
    others = {f"judgement_{wording}" for wording in get_args(Wording) if wording != request.judge}
    read = [load_prompt(name, request.language) for name in names if name not in others]
    return {f"{prompt.name}.{prompt.language}": prompt.version for prompt in read}


def title_of(paper: Paper) -> str:
    """Return the title of a paper for a prompt."""
    return (paper.title or paper.title2)[:TITLE_CHARACTERS]


def abstract_of(paper: Paper) -> str:
    """Return the abstract of a paper for a prompt."""
    return (paper.abstract or paper.abstract2)[:ABSTRACT_CHARACTERS]
