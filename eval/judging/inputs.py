"""Inputs of a call besides its options: the model with its prompts, and the settings of searches."""

from collections.abc import Mapping
from typing import Any

from eval.manifest import asked_with
from generator.pipeline import Settings
from generator.settings import LanguageModelSettings


def model_record(llm: LanguageModelSettings, prompts: Mapping[str, int]) -> dict[str, Any]:
    """Return the language model and the versions of its prompts."""
    return {"model": llm.model, "language model": asked_with(llm), "prompts": dict(prompts)}


def search_record(settings: Settings) -> dict[str, Any]:
    """Return the settings of searches."""
    indexer = settings.indexer
    return {
        "settings": settings.retriever.model_dump(mode="json", exclude={"synonyms"}),
        **{name: asked_with(getattr(indexer, name)) for name in ("encoder", "reranker")},
    }
