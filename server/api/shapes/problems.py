"""Problem details (RFC 9457)."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Problem(TypedDict):
    """The cause and the next step; programs rely on `code`, which is stable."""

    type: Annotated[str, Field(examples=["urn:shrag:problem:bad-filter"])]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    code: Annotated[str, Field(examples=["bad-filter"])]
    detail: Annotated[str, Field(description="as on the command line")]
    place: NotRequired[
        Annotated[str, Field(description="the field of the call that is wrong: body.k, query.year")]
    ]
    position: NotRequired[Annotated[int, Field(description="in an expression, in code points from 0")]]
    retry_after_s: NotRequired[float]
