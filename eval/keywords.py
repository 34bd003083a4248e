"""Keywords of a language model for topics, and their record in a run's manifest."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from eval.ranking import RankedTopic
from generator.errors import ModelAnswerInvalid
from generator.keywords import keywords_step
from generator.llm import LanguageModel
from generator.settings import LanguageModelSettings
from indexer.analysis import Analyzer
from retriever.queries.keywords import KEYWORDS, Keyword


@dataclass(frozen=True, slots=True)
class TopicKeywords:
    """Keywords, and their origin for the manifest; None and {} if the model's answer is unusable."""

    keywords: tuple[Keyword, ...] | None
    record: dict[str, Any]


async def ask_for_keywords(
    question: str, model: LanguageModel, analyzer: Analyzer, *, most: int | None = KEYWORDS
) -> TopicKeywords:
    """Request the keywords of a question from the model.

    Raises:
        ModelFailed: the model is unreachable, too slow, or refuses.
        CallNotRecorded, CacheUnusable: a call is missing in a replay, or its file is unusable.
    """
    try:
        given = await keywords_step(question, model.settings, analyzer, most=most).call(model)
    except ModelAnswerInvalid:
        return TopicKeywords(None, {})
    texts = [keyword.text for keyword in given.value or ()]
    record = {"model": given.reply.model, **given.prompt_versions, "texts": texts}
    return TopicKeywords(given.value, record)


def _prompts(topics: Iterable[RankedTopic]) -> dict[str, list[int]]:
    """Return the used versions of each prompt."""
    found: dict[str, set[int]] = {}
    for topic in topics:
        for name, versions in topic.prompts.items():
            found.setdefault(name, set()).update(versions)
    return {name: sorted(versions) for name, versions in sorted(found.items())}


def keywords_record(
    settings: LanguageModelSettings | None, topics: Mapping[str, RankedTopic]
) -> dict[str, Any]:
    """Describe the origin of the keywords for the manifest; `settings` are the model's, if it was used.

    `unusable` lists the questions without usable keywords.
    """
    if settings is None:
        return {"source": "statistics"}
    asked = {"temperature": settings.temperature, "seed": settings.seed, "revision": settings.revision}
    given = {query_id: topic.keywords for query_id, topic in topics.items() if topic.keywords is not None}
    if not given:  # a way, hops or agents used it
        return {"source": "model", "model": settings.model, **asked, "prompts": _prompts(topics.values())}
    usable = {query_id: keywords for query_id, keywords in given.items() if keywords}
    return {
        "source": "model",
        "models": sorted({keywords["model"] for keywords in usable.values()}),
        "prompt_versions": sorted({keywords["prompt_version"] for keywords in usable.values()}),
        **asked,
        "texts": {query_id: keywords["texts"] for query_id, keywords in usable.items()},
        "unusable": [query_id for query_id in given if query_id not in usable],
    }
