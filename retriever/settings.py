"""Settings of searches: variables `SHRAG_…` and `shrag.toml`, read by the front ends."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_settings import NoDecode, SettingsConfigDict

from base.settings.sources import LayeredSettings
from indexer.settings import OptionalPath

# Parts of the score of `shrag`, in addition to BM25 of the question's words.
OrderPart = Literal["keywords", "synonyms", "feedback", "second-search", "cosine"]


def _listed(value: Any) -> Any:
    """Split names that are separated by commas or given as a JSON list."""
    return (
        [name.strip(" \"'") for name in value.strip("[] ").split(",") if name.strip()]
        if isinstance(value, str)
        else value
    )


class RetrieverSettings(LayeredSettings):
    """Settings of the retriever; built once at a front end and passed down."""

    model_config = SettingsConfigDict(env_prefix="SHRAG_", frozen=True)

    title_weight: float = Field(
        default=0.35,
        ge=0,
        le=10,
        description="weight of the title clause of `or`, relative to the text; "
        "other methods have no title clause",
    )
    keywords: int = Field(
        default=10, ge=1, le=50, description="maximum keywords of a question, and so progressive queries"
    )
    hits_per_query: int = Field(default=10, ge=1, le=1000, description="papers of each progressive query SQn")
    without: Annotated[frozenset[OrderPart], NoDecode, BeforeValidator(_listed), PlainSerializer(sorted)] = (
        Field(
            default=frozenset(), description="parts of the score of `shrag` to leave out, separated by commas"
        )
    )
    rerank_depth: int = Field(
        default=30, ge=1, le=1000, description="hits that a re-ranker scores again (SHRAG_RERANKER__…)"
    )
    synonyms: OptionalPath = Field(default=None, description="file of synonyms for questions (`--synonyms`)")
    drop_incomplete: bool = Field(
        default=True, description="leave papers without an abstract out of hits and evidence, and count them"
    )


class SourcesSettings(LayeredSettings):
    """The unparsed tables of sources of papers; `retriever.sources.configuration` parses them."""

    model_config = SettingsConfigDict(
        env_prefix="SHRAG_", env_nested_delimiter="__", frozen=True, hide_input_in_errors=True
    )

    sources: dict[str, Any] = Field(
        default_factory=dict,
        description="sources of papers beyond the indexes, one table per source: docs/how-to/sources.md",
    )
