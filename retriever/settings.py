"""How questions are searched for: variables `SHRAG_…` and `shrag.toml`, read by the front ends."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_settings import NoDecode, SettingsConfigDict

from base.settings.sources import LayeredSettings
from indexer.settings import OptionalPath

Candidates = Literal["progressive", "lexical", "both"]
KeywordRanking = Literal["tf-idf", "entropy"]
# Parts of the order of `shrag` beside BM25 of the question's words.
OrderPart = Literal[
    "weights",
    "word-forms",
    "counterparts",
    "feedback",
    "neighbours",
    "same-title",
    "other-language",
    "second-search",
]


def _listed(value: Any) -> Any:
    """Take names apart that are written as a list: feedback,second-search or as JSON."""
    return (
        [name.strip(" \"'") for name in value.strip("[] ").split(",") if name.strip()]
        if isinstance(value, str)
        else value
    )


class RetrieverSettings(LayeredSettings):
    """Settings of the retriever; built once at a front end and passed down."""

    model_config = SettingsConfigDict(env_prefix="SHRAG_", frozen=True)

    title_weight: float = Field(
        default=0.35, ge=0, le=10, description="in `or`, of the title clause beside the text's"
    )
    count_repeats: bool = Field(
        default=False,
        description="in `or`, a word that stands twice in the question weighs twice (Lucene's match)",
    )
    keywords: int = Field(default=10, ge=1, le=50, description="keywords of a question: k1 … k10")
    hits_per_query: int = Field(
        default=10, ge=1, le=1000, description="papers that each progressive query SQn brings"
    )
    candidates: Candidates = Field(
        default="both",
        description="what `shrag` orders: the progressive queries' union, that and the whole question's "
        "hundred, or both and the hundred nearest passages",
    )
    without: Annotated[frozenset[OrderPart], NoDecode, BeforeValidator(_listed), PlainSerializer(sorted)] = (
        Field(default=frozenset(), description="parts of the order of `shrag` that are left out")
    )
    rerank_depth: int = Field(
        default=30, ge=1, le=1000, description="hits that a cross-encoder reads again (SHRAG_RERANKER__…)"
    )
    ranking: KeywordRanking = Field(default="tf-idf", description="importance of keywords: tf-idf or entropy")
    keywords_ranked: bool = Field(
        default=False,
        description="a model's keywords are ordered by importance, too, not as the model gave them",
    )
    synonyms: OptionalPath = Field(default=None, description="a file of synonyms for questions")
    constraints: bool = Field(
        default=True,
        description="what a question excludes, and the years it asks for, have a part in the order",
    )
    this_year: int | None = Field(
        default=None,
        ge=1900,
        le=2100,
        description="that 'the last five years' count back from; today's if unset",
    )
    drop_incomplete: bool = Field(default=True, description="papers without an abstract are no evidence")


class SourcesSettings(LayeredSettings):
    """The tables of sources of papers, as they stand; `retriever.sources.configuration` reads them."""

    model_config = SettingsConfigDict(
        env_prefix="SHRAG_", env_nested_delimiter="__", frozen=True, hide_input_in_errors=True
    )

    sources: dict[str, Any] = Field(
        default_factory=dict,
        description="sources of papers beyond the indexes, a table each: docs/how-to/sources.md",
    )
