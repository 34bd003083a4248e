"""Keywords of a language model for all topics, and how they came about."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generator.errors import ModelAnswerInvalid
from generator.keywords import keywords_from_model
from generator.llm import LanguageModel
from generator.model_step import FromModel
from indexer.analysis import Analyzer
from indexer.ingest import Progress, no_progress
from retriever.keywords import KEYWORDS, Keyword


@dataclass(frozen=True, slots=True)
class TopicKeywords:
    """Keywords by query_id, and for the manifest what made them.

    A question to which the model gave none that can be used is not in it; `record["unusable"]` names it.
    """

    keywords: dict[str, tuple[Keyword, ...]]
    record: dict[str, Any]


async def ask_for_keywords(
    topics: Mapping[str, str],
    model: LanguageModel,
    analyzer: Analyzer,
    progress: Progress = no_progress,
    *,
    most: int | None = KEYWORDS,
) -> TopicKeywords:
    """Ask the model for the keywords of every topic, as many at a time as its settings allow.

    Raises:
        ModelFailed: the model cannot be reached, is too slow or refuses.
        CallNotRecorded, CacheUnusable: a replay misses a call, or its file cannot be used.
    """
    places = asyncio.Semaphore(model.settings.concurrency)  # those that wait here run against no limit
    answers: dict[str, FromModel[tuple[Keyword, ...]] | None] = {}

    async def ask(query_id: str, question: str) -> None:
        async with places:
            try:
                answers[query_id] = await keywords_from_model(question, model, analyzer, most=most)
            except ModelAnswerInvalid:
                answers[query_id] = None
            progress("keywords", len(answers), len(topics))

    await asyncio.gather(*(ask(query_id, question) for query_id, question in topics.items()))
    usable = {query_id: answer for query_id in topics if (answer := answers[query_id]) is not None}
    record = {
        "source": "model",
        "models": sorted({answer.reply.model for answer in usable.values()}),
        "prompt_versions": sorted({answer.prompt_version for answer in usable.values()}),
        "temperature": model.settings.temperature,
        "seed": model.settings.seed,
        "revision": model.settings.revision,
        "texts": {
            query_id: [keyword.text for keyword in answer.value] for query_id, answer in usable.items()
        },
        "unusable": [query_id for query_id in topics if query_id not in usable],
    }
    return TopicKeywords({query_id: answer.value for query_id, answer in usable.items()}, record)
