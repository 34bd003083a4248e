"""Indexes and sources, and what they can be asked."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Index(TypedDict):
    """An index: the version that answers, and what it is made of."""

    name: str
    version: int
    engine: Literal["tantivy", "elasticsearch"]
    papers: int
    passages: int
    published: str
    counts: Annotated[dict[str, int], Field(description="what became of the records")]
    analyzer: Literal["bilingual", "korean", "english"]
    unit: Annotated[str, Field(description="what is judged: paper or passage")]
    glossary: dict[str, int]
    citations: Annotated[
        dict[str, int], Field(description="references, of how many papers (citing), and how many are matched")
    ]
    vectors: str | None
    fingerprint: dict[str, str]
    language_model: Annotated[str | None, Field(description="that writes answers; null: quotations")]


class UnreadableIndex(TypedDict):
    """An index that is there and cannot be read."""

    name: str
    error: str


class Indexes(TypedDict):
    """The indexes that there are."""

    indexes: list[Index | UnreadableIndex]


class Source(TypedDict):
    """A source of papers that may be asked instead of an index."""

    name: str
    kind: Annotated[str, Field(description="index, elasticsearch, openalex …")]
    description: NotRequired[Annotated[str, Field(description="what it holds")]]
    private: Annotated[bool, Field(description="questions stay within the institution")]


class UnopenedSource(TypedDict):
    """A source that cannot be opened."""

    name: str
    kind: str
    description: NotRequired[str]
    error: str


class Sources(TypedDict):
    """The sources that are offered."""

    sources: list[Source | UnopenedSource]


class Examples(TypedDict):
    """Questions that an index can be asked."""

    index: str
    questions: list[str]
