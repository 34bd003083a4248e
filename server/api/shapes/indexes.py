"""Indexes, and what they can be asked."""

from typing import Annotated, Literal

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


class Examples(TypedDict):
    """Questions that an index can be asked."""

    index: str
    questions: list[str]
