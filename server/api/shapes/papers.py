"""A paper with what is around it, and single passages."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Passage(TypedDict):
    """The unit that is indexed."""

    passage_id: str
    part: Annotated[str, Field(description="abstract, abstract2, body or passage")]
    lang: Literal["ko", "en", "other"]
    title: str
    text: str


class ListedPaper(TypedDict):
    """A paper in a list; `score` where the list is ordered by one."""

    doc_id: str
    title: str
    year: NotRequired[int]
    lang: NotRequired[str]
    authors: NotRequired[Annotated[list[str], Field(description="20 at most")]]
    author_count: NotRequired[Annotated[int, Field(description="where there are more")]]
    journal: NotRequired[str]
    score: NotRequired[float]


class Paper(TypedDict):
    """A paper's record and passages, what it cites, what cites it, and similar papers.

    Lists are bounded; the counts beside them are not.
    """

    index: str
    doc_id: str
    version: int
    record: Annotated[dict[str, Any], Field(description="as it was indexed, with keys unknown here too")]
    passages: list[Passage]
    passage_count: int
    cites: list[ListedPaper]
    cites_count: int
    unknown: Annotated[
        list[str], Field(description="its references that the index does not hold: ids, or titles")
    ]
    reference_count: Annotated[int, Field(description="of the record, whatever they name")]
    cited_by: list[ListedPaper]
    citing_count: int
    similar: list[ListedPaper]
    similar_by: Literal["vectors", "terms"]


class PassageOfPaper(Passage):
    """A passage with its paper's record."""

    index: str
    doc_id: str
    record: dict[str, Any]
