"""Parts of a call record that later commands read, checked when `calls.jsonl` is read."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from base.calls import reason
from eval.errors import BadBenchmark
from eval.judging.records import CallRecord, Judge, Score, StageName


class PoolOptions(BaseModel):
    """Options of `pool`: the index, the sources, and the names of both."""

    places: list[str]
    index: str | None
    sources: list[str]


class JudgeOptions(BaseModel):
    """Options of `judge`."""

    stage: StageName
    judge: Judge
    threshold: Annotated[Score, Field(strict=True)]


class IndexMade(BaseModel):
    """The index of a pool."""

    name: str
    version: int
    papers: int


class MadeWith(BaseModel):
    """Inputs of a call besides its options."""

    model: str | None = None
    prompts: dict[str, int] = {}
    index: IndexMade | None = None
    sources: dict[str, Any] | list[str] = []


OPTIONS: Mapping[str, type[BaseModel]] = {"pool": PoolOptions, "judge": JudgeOptions}  # by step


def check_call(call: CallRecord, where: str) -> None:
    """Raise BadBenchmark with file and line if a part is missing or has another type."""
    parts: list[tuple[str, type[BaseModel], Mapping[str, Any]]] = [("made_with", MadeWith, call.made_with)]
    if options := OPTIONS.get(call.step.partition(" ")[0]):
        parts.append(("options", options, call.options))
    for name, kind, values in parts:
        try:
            kind.model_validate(values)
        except ValidationError as error:
            raise BadBenchmark(
                f"{where}: damaged: {name}: {reason(error)}; restore the file from a copy"
            ) from None
