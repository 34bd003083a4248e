"""One record of all that happened on the way of a question: printed, saved, compared."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from generator.errors import TraceNotWritten
from indexer.durable import write_durably

TRACE_VERSION = 1
# What differs from run to run without a difference in what was done.
PASSING = frozenset({"milliseconds", "started"})


class _Index(BaseModel):
    name: str
    version: int


class _Keyword(BaseModel):
    text: str
    weight: float


class _Query(BaseModel):
    query: str
    hits: int


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
    """What every trace holds, and whoever shows one counts on; there is more in it."""

    started: str
    index: _Index
    question: str
    method: str
    keywords: list[_Keyword]
    queries: list[_Query]
    answer: _Answer
    evidence: list[_Hit]
    notes: list[str]
    milliseconds: dict[str, float]


@dataclass(frozen=True, slots=True)
class Trace:
    """The whole way of a question; `record` is what `--trace FILE` holds."""

    record: dict[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the trace as JSON; TraceNotWritten where the system refuses."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_durably(path, json.dumps(self.record, ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            reason = error.strerror or str(error)
            raise TraceNotWritten(f"trace {path} was not written: {reason}; choose another file") from error

    @classmethod
    def load(cls, path: Path) -> "Trace":
        """Read a saved trace; ValueError, which names the file, where it holds none or a part of one."""
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} holds no JSON: {error}") from None
        if not isinstance(record, dict) or record.get("trace") != TRACE_VERSION:
            raise ValueError(f"{path} holds no trace of this version ({TRACE_VERSION})")
        try:
            _Whole.model_validate(record, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{path} holds no whole trace: {place}: {first['msg']}") from None
        return cls(record)


def differences(one: Trace, other: Trace) -> list[str]:
    """List where two traces differ but for times: "path: value here, value there"."""
    return list(_differ(one.record, other.record, ""))


def _differ(one: Any, other: Any, path: str) -> list[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [key for key in dict.fromkeys([*one, *other]) if key not in PASSING]
        return [
            line for key in keys for line in _differ(one.get(key), other.get(key), f"{path}.{key}".strip("."))
        ]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [line for place, (a, b) in pairs for line in _differ(a, b, f"{path}[{place}]")]
    if one == other:
        return []
    return [f"{path}: {_short(one)} | {_short(other)}"]


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}…"  # noqa: PLR2004
