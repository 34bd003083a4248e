"""A paper with related papers, and single passages."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Passage(TypedDict):
    """An indexed passage."""

    passage_id: str
    part: Annotated[str, Field(description="abstract, abstract2, body or passage")]
    lang: Literal["ko", "en", "other"]
    title: str
    text: str


class ListedPaper(TypedDict):
    """A paper in a list; `score` if the list is ordered by one."""

    doc_id: str
    title: str
    year: NotRequired[int]
    lang: NotRequired[str]
    authors: NotRequired[Annotated[list[str], Field(description="20 at most")]]
    author_count: NotRequired[Annotated[int, Field(description="if there are more")]]
    journal: NotRequired[str]
    score: NotRequired[float]


class Paper(TypedDict):
    """A paper's record and passages, what it cites, what cites it, and similar papers.

    Lists are limited; the counts beside them are complete.
    """

    index: str
    doc_id: str
    version: int
    record: Annotated[dict[str, Any], Field(description="as indexed, including unknown keys")]
    passages: list[Passage]
    passage_count: int
    cites: list[ListedPaper]
    cites_count: int
    unknown: Annotated[list[str], Field(description="references that are not in the index: ids, or titles")]
    reference_count: Annotated[int, Field(description="all references of the record")]
    cited_by: list[ListedPaper]
    citing_count: int
    similar: list[ListedPaper]
    similar_by: Literal["vectors", "terms"]


class PassageOfPaper(Passage):
    """A passage with its paper's record."""

    index: str
    doc_id: str
    record: dict[str, Any]
