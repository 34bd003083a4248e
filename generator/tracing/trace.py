"""Traces of answers and of searches for papers: saving and loading."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Required

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.terminal.output import json_text
from base.untrusted import read_json

TRACE_VERSION = 2
FINDING_VERSION = 1  # of a search for papers
MOST_BYTES = 32_000_000  # of a saved trace; one with the full texts of five papers has about ten thousand
SHOWN_CHARACTERS = 80  # of an unknown version

_Number = Annotated[int, Field(ge=-(10**18), le=10**18)]  # larger numbers cannot be displayed


class _Index(TypedDict):
    name: str
    version: int


class _Request(TypedDict):
    question: str
    way: str
    method: str


class _Hit(TypedDict):
    rank: int
    score: float
    passage_id: str
    title: str


class _Sentence(TypedDict):
    text: str
    citations: list[str]
    check: str


class _Answer(TypedDict):
    title: str
    sentences: list[_Sentence]


class _Found(TypedDict):
    rank: _Number
    id: str
    score: float
    why: str


class _FindingRequest(TypedDict):
    question: str
    without: list[str]
    papers: _Number
    rounds: _Number
    layers: _Number
    seed: _Number


class _Step(TypedDict):
    name: str
    inputs: dict[str, Any]
    output: Any
    milliseconds: float | None
    steps: list["_Step"]


class _Paper(TypedDict, total=False):
    paper: Required[str]
    title: str
    score: float | None
    references: list["_Paper"]
    cited_by: list["_Paper"]
    evolved: list["_Query"]


class _Query(TypedDict):
    query: str
    kind: str
    papers: list[_Paper]


class _Saved(TypedDict):
    steps: list[_Step]
    notes: list[str]
    milliseconds: float


class _AnswerTrace(_Saved):
    """The required keys of a trace; a trace has more."""

    started: str
    index: _Index
    request: _Request
    answer: _Answer
    evidence: list[_Hit]


class _FindingTrace(_Saved):
    """The required keys of a trace of a search for papers."""

    request: _FindingRequest
    tree: list[_Query]
    papers: list[_Found]


# Kinds of traces by their version key: version, schema, and the command that saves them.
KINDS: Mapping[str, tuple[int, Any, Literal["ask", "find-papers"]]] = {
    "trace": (TRACE_VERSION, _AnswerTrace, "ask"),
    "finding": (FINDING_VERSION, _FindingTrace, "find-papers"),
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
            TypeAdapter(parts).validate_python(record, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{path} is not a complete trace: {place}: {first['msg']}") from None
        return cls(record)
