"""The record of a question's way to its answer, as a tree of steps: saved, read, compared."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from indexer.output_files import write_output
from indexer.regular_files import read_regular
from indexer.terminal import json_text
from indexer.untrusted import read_json

TRACE_VERSION = 2
MOST_BYTES = 32_000_000  # of a saved trace; one with the full texts of five papers has some ten thousand
# What differs from run to run without a difference in what was done.
PASSING = frozenset({"milliseconds", "started"})
SHOWN_CHARACTERS = 80  # of a value that differs


class _Index(BaseModel):
    name: str
    version: int


class _Request(BaseModel):
    question: str
    way: str
    method: str


class _Step(BaseModel):
    name: str
    inputs: dict[str, Any]
    output: Any
    model_call: dict[str, Any] | None = None
    error: str = ""
    fallback: str = ""
    milliseconds: float | None
    steps: list["_Step"]


class _Hit(BaseModel):
    rank: int
    score: float
    passage_id: str
    title: str


class _Sentence(BaseModel):
    text: str
    citations: list[str]
    check: str


class _Answer(BaseModel):
    title: str
    sentences: list[_Sentence]


class _Whole(BaseModel):
    """The keys that every trace has and its readers rely on; a trace holds more."""

    started: str
    index: _Index
    request: _Request
    steps: list[_Step]
    answer: _Answer
    evidence: list[_Hit]
    notes: list[str]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Trace:
    """How a question was answered; `record` is what `--trace FILE` holds."""

    record: dict[str, Any] = field(default_factory=dict)

    def steps(self, name: str = "") -> Iterator[dict[str, Any]]:
        """Yield the records of all steps, or of those of that name, each before the steps within it."""
        left = list(reversed(self.record["steps"]))
        while left:
            step = left.pop()
            left += reversed(step["steps"])
            if not name or step["name"] == name:
                yield step

    def save(self, path: Path) -> None:
        """Write the trace as JSON; OutputNotWritten where the system refuses."""
        write_output(path, (json_text(self.record, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: Path) -> "Trace":
        """Read a saved trace; ValueError, which names the file, where it holds none or a part of one."""
        try:
            record = read_json(read_regular(path, MOST_BYTES))
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise ValueError(f"{path} holds no JSON: {error}") from None
        version = record.get("trace") if isinstance(record, dict) else None
        if version is None:
            raise ValueError(f"{path} holds no trace; make one with: shrag ask … --trace FILE")
        if version != TRACE_VERSION:
            raise ValueError(
                f"{path} holds a trace of version {str(version)[:SHOWN_CHARACTERS]}, and this is the program "
                f"of version {TRACE_VERSION}; ask the question again with --trace"
            )
        try:
            _Whole.model_validate(record, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{path} holds no whole trace: {place}: {first['msg']}") from None
        return cls(record)


def differences(first: Trace, second: Trace) -> list[str]:
    """List where two traces differ but for times, as "path: first value | second value".

    Steps are compared by name, so that one more or less leaves the others comparable: `steps.search 2` is the
    second search within its step.
    """
    return list(_differ(first.record, second.record, ""))


def _differ(first: Any, second: Any, path: str) -> Iterator[str]:
    if first == second:
        return
    if path.endswith("steps") and isinstance(first, list) and isinstance(second, list):
        first, second = _by_name(first), _by_name(second)
    if isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys([*first, *second]):
            if key not in PASSING:
                yield from _differ(first.get(key), second.get(key), f"{path}.{key}".strip("."))
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from _differ(one, other, f"{path}[{place}]")
    else:
        yield f"{path}: {_short(first)} | {_short(second)}"


def _by_name(steps: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Key steps of one parent by name, those of the same name numbered from the second on."""
    counts: dict[str, int] = {}
    keyed = {}
    for step in steps:
        name = step["name"]
        counts[name] = counts.get(name, 0) + 1
        keyed[name if counts[name] == 1 else f"{name} {counts[name]}"] = step
    return keyed


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 3]}…"
