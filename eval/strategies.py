"""Strategies of a run's topics: from a file, from the language model, or from statistics."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from base.amounts import counted
from base.errors import InvalidCall
from eval.files import Input
from eval.ranking import RankedTopic
from generator.errors import ModelAnswerInvalid
from generator.llm import LanguageModel
from generator.settings import LanguageModelSettings
from generator.strategist import model_strategy
from generator.tracing import Step
from retriever.request import SearchRequest
from retriever.strategy import Strategy, read_strategies


def read_recorded(path: Path, topics: Iterable[str]) -> tuple[dict[str, Strategy], Input]:
    """Read the strategies of topics by query_id; return also the file.

    Raises:
        InvalidCall: the file cannot be read, has an invalid line, or lacks a topic.
    """
    file = Input(path)
    read = read_strategies(path, file.update)
    if missing := [query_id for query_id in topics if query_id not in read]:
        count = counted(len(missing), "topic")
        raise InvalidCall(f"{path} has no strategy for {count}; the first is {missing[0]}")
    return read, file


async def strategy_of_topic(
    request: SearchRequest, model: LanguageModel
) -> tuple[Strategy | None, dict[str, list[int]]]:
    """Ask a model for the strategy of a search; return it, and the versions of the prompts.

    The strategy is None if the replies were unusable.

    Raises:
        ModelFailed: the model is unreachable, too slow, or refuses.
        CallNotRecorded, CacheUnusable: a call is missing in a replay, or its file is unusable.
    """
    root = Step("topic")
    with root.running():
        strategy = await model_strategy(root, request, model)
    prompts: dict[str, list[int]] = {}
    for step in root.walk():
        if step.failure is not None and not isinstance(step.failure, ModelAnswerInvalid):
            raise step.failure
        if version := (step.model_call or {}).get("prompt_version"):
            prompts[step.name] = sorted({version, *prompts.get(step.name, ())})
    return strategy, prompts


def strategist_record(
    recorded: Mapping[str, Strategy],
    file: Input | None,
    settings: LanguageModelSettings | None,
    topics: Mapping[str, RankedTopic],
) -> dict[str, Any]:
    """Describe the origin of the strategies for the manifest: a file, a model, or statistics.

    `unusable` lists the questions for which statistics replaced the model.
    """
    if file:
        origins = sorted({strategy.origin for strategy in recorded.values()})
        return {"source": "recorded", **file.record, "origins": origins}
    if settings is None:
        return {"source": "statistics"}
    prompts: dict[str, set[int]] = {}
    for topic in topics.values():
        for name, versions in topic.prompts.items():
            prompts.setdefault(name, set()).update(versions)
    record = {
        "source": "model",
        "model": settings.model,
        "temperature": settings.temperature,
        "seed": settings.seed,
        "revision": settings.revision,
        "prompts": {name: sorted(versions) for name, versions in sorted(prompts.items())},
    }
    given = {query_id: topic.strategy for query_id, topic in topics.items() if topic.strategy is not None}
    if not given:  # a way or agents used the model
        return record
    return record | {
        "strategies": {query_id: strategy for query_id, strategy in given.items() if strategy},
        "unusable": [query_id for query_id, strategy in given.items() if not strategy],
    }
