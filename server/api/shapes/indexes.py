"""Indexes and sources, and example questions."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Index(TypedDict):
    """An index: the published version and its contents."""

    name: str
    version: int
    engine: Literal["tantivy", "elasticsearch"]
    papers: int
    passages: int
    published: str
    counts: Annotated[dict[str, int], Field(description="records by outcome")]
    analyzer: Literal["bilingual", "korean", "english"]
    unit: Annotated[str, Field(description="unit of relevance: paper or passage")]
    glossary: dict[str, int]
    citations: Annotated[
        dict[str, int],
        Field(description="references, papers that have some (citing), and matched references"),
    ]
    vectors: str | None
    fingerprint: dict[str, str]
    language_model: Annotated[str | None, Field(description="writes answers; null: quotations")]


class UnreadableIndex(TypedDict):
    """An index that cannot be read."""

    name: str
    error: str


class Indexes(TypedDict):
    """All indexes."""

    indexes: list[Index | UnreadableIndex]


class Source(TypedDict):
    """A source of papers that can be searched instead of an index."""

    name: str
    kind: Annotated[str, Field(description="index, elasticsearch, openalex …")]
    description: NotRequired[Annotated[str, Field(description="its content")]]
    private: Annotated[bool, Field(description="questions stay within the institution")]


class UnopenedSource(TypedDict):
    """A source that cannot be opened."""

    name: str
    kind: str
    description: NotRequired[str]
    error: str


class Sources(TypedDict):
    """The offered sources."""

    sources: list[Source | UnopenedSource]


class Examples(TypedDict):
    """Example questions for an index."""

    index: str
    questions: list[str]
