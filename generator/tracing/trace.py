"""Traces of answers and of searches for papers: saving, loading and comparison."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.terminal.output import json_text
from base.untrusted import read_json

TRACE_VERSION = 2
FINDING_VERSION = 1  # of a search for papers
MOST_BYTES = (
    32_000_000  # limit of a saved trace; one with the full texts of five papers has about ten thousand
)
TIMES = frozenset({"milliseconds", "started", "spent.seconds"})  # not compared
# Keys that identify the items of a list, so that an inserted or missing item leaves the others comparable.
NAMED_BY: Mapping[str, tuple[str, ...]] = {
    "steps": ("name",),
    "papers": ("id", "paper"),
    "references": ("paper",),
    "cited_by": ("paper",),
    "queries": ("text",),
    "evolved": ("query",),
    "tree": ("query",),
}
MOST_DIFFERENCES = 1_000
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
    """The required keys of a trace; a trace has more."""

    started: str
    index: _Index
    request: _Request
    steps: list[_Step]
    likelihood: Annotated[float | None, Field(ge=0, le=1)] = None  # not in older traces
    unknown_words: list[str] = []  # not in older traces
    answer: _Answer
    evidence: list[_Hit]
    notes: list[str]
    milliseconds: float


_Number = Annotated[int, Field(ge=-(10**18), le=10**18)]  # larger numbers cannot be displayed


class _FindingRequest(BaseModel):
    question: str
    papers: _Number
    rounds: _Number
    layers: _Number
    seed: _Number
    without: list[str]


class _Found(BaseModel):
    rank: _Number
    id: str
    score: float
    why: str
    title: str = ""


class _Query(BaseModel):
    query: str
    kind: str
    papers: list["_Paper"]


class _Paper(BaseModel):
    paper: str
    title: str = ""
    score: float | None = None
    references: list["_Paper"] = []
    cited_by: list["_Paper"] = []
    evolved: list[_Query] = []


class _Finding(BaseModel):
    """The required keys of a trace of a search for papers."""

    request: _FindingRequest
    steps: list[_Step]
    tree: list[_Query]
    papers: list[_Found]
    notes: list[str]
    milliseconds: float


# Kinds of traces by their version key: version, schema, and the command that saves them.
KINDS: Mapping[str, tuple[int, type[BaseModel], str]] = {
    "trace": (TRACE_VERSION, _Whole, "ask"),
    "finding": (FINDING_VERSION, _Finding, "find-papers"),
}


@dataclass(frozen=True, slots=True)
class Trace:
    """Trace of an answer or of a search for papers; `record` is the JSON of `--trace FILE`."""

    record: dict[str, Any] = field(default_factory=dict)

    @property
    def is_of_finding(self) -> bool:
        """Whether the trace is of a search for papers."""
        return "finding" in self.record

    def steps(self, name: str = "") -> Iterator[dict[str, Any]]:
        """Yield the records of all steps, or of the steps with a name, in pre-order."""
        left = list(reversed(self.record["steps"]))
        while left:
            step = left.pop()
            left += reversed(step["steps"])
            if not name or step["name"] == name:
                yield step

    def save(self, path: Path) -> None:
        """Write the trace as JSON; raises OutputNotWritten."""
        write_output(path, (json_text(self.record, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: Path) -> "Trace":
        """Load a saved trace; a ValueError names a file that is unreadable, incomplete or not a trace."""
        try:
            record = read_json(read_regular(path, MOST_BYTES))
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise ValueError(f"{path} is not valid JSON: {error}") from None
        kind = next((kind for kind in KINDS if isinstance(record, dict) and kind in record), None)
        if kind is None:
            raise ValueError(f"{path} is not a trace; make one with: shrag ask … --trace FILE")
        version, parts, command = KINDS[kind]
        if record[kind] != version:
            raise ValueError(
                f"{path} is a trace of version {str(record[kind])[:SHOWN_CHARACTERS]}, and this program "
                f"reads version {version}; ask the question again with shrag {command} … --trace FILE"
            )
        try:
            parts.model_validate(record, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{path} is not a complete trace: {place}: {first['msg']}") from None
        return cls(record)


def differences(first: Trace, second: Trace) -> list[str]:
    """List the differences of two traces, ignoring times, as "path: first value | second value".

    Steps are matched by name, papers by id and queries by text, so that an inserted or missing one leaves the
    others comparable: `steps.search 2` is the second search within its step. After 1,000 differences the last
    line is "… and more".

    Raises:
        ValueError: one trace is of an answer, the other of a search for papers.
    """
    if first.is_of_finding != second.is_of_finding:
        raise ValueError("one trace is of an answer, the other of a search for papers")
    found = list(islice(_differ(first.record, second.record, ""), MOST_DIFFERENCES + 1))
    more = found[MOST_DIFFERENCES:]
    return [*found[:MOST_DIFFERENCES], *(["… and more"] if more else [])]


def _differ(first: Any, second: Any, path: str) -> Iterator[str]:
    if first == second:
        return
    named_by = NAMED_BY.get(path.rpartition(".")[2], ())
    if named_by and isinstance(first, list) and isinstance(second, list):
        first, second = _by_name(first, named_by), _by_name(second, named_by)
    if isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys([*first, *second]):
            inside = f"{path}.{key}".strip(".")
            if not TIMES & {key, inside}:
                yield from _differ(first.get(key), second.get(key), inside)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from _differ(one, other, f"{path}[{place}]")
    else:
        yield f"{path}: {_short(first)} | {_short(second)}"


def _by_name(parts: Sequence[Any], named_by: Sequence[str]) -> dict[str, Any] | Sequence[Any]:
    """Key the items of a list by name, numbering repeated names from 2; unchanged if an item has no name."""
    counts: dict[str, int] = {}
    keyed = {}
    for part in parts:
        names = [part.get(key) for key in named_by] if isinstance(part, dict) else []
        name = next((name[:SHOWN_CHARACTERS] for name in names if isinstance(name, str)), None)
        if name is None:
            return parts
        counts[name] = counts.get(name, 0) + 1
        keyed[name if counts[name] == 1 else f"{name} {counts[name]}"] = part
    return keyed


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 3]}…"
