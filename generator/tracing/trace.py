"""The record of a question's way to its answer, or to the papers found, as a tree of steps.

It is saved, read and compared.
"""

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
MOST_BYTES = 32_000_000  # of a saved trace; one with the full texts of five papers has some ten thousand
# What differs from run to run without a difference in what was done.
PASSING = frozenset({"milliseconds", "started", "spent.seconds"})
# By which key the parts of a list are compared, so that one more or less leaves the others comparable.
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
    """The keys that every trace has and its readers rely on; a trace holds more."""

    started: str
    index: _Index
    request: _Request
    steps: list[_Step]
    likelihood: Annotated[float | None, Field(ge=0, le=1)] = None  # not in earlier traces
    unknown_words: list[str] = []  # the same
    answer: _Answer
    evidence: list[_Hit]
    notes: list[str]
    milliseconds: float


_Number = Annotated[int, Field(ge=-(10**18), le=10**18)]  # longer ones cannot be shown


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
    """The same of a search for papers."""

    request: _FindingRequest
    steps: list[_Step]
    tree: list[_Query]
    papers: list[_Found]
    notes: list[str]
    milliseconds: float


# What a file holds by the key of its version: that version, its parts, and the command that makes it.
KINDS: Mapping[str, tuple[int, type[BaseModel], str]] = {
    "trace": (TRACE_VERSION, _Whole, "ask"),
    "finding": (FINDING_VERSION, _Finding, "find-papers"),
}


@dataclass(frozen=True, slots=True)
class Trace:
    """How a question was answered, or papers found; `record` is what `--trace FILE` holds."""

    record: dict[str, Any] = field(default_factory=dict)

    @property
    def is_of_finding(self) -> bool:
        """Whether it is that of a search for papers."""
        return "finding" in self.record

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
        kind = next((kind for kind in KINDS if isinstance(record, dict) and kind in record), None)
        if kind is None:
            raise ValueError(f"{path} holds no trace; make one with: shrag ask … --trace FILE")
        version, parts, command = KINDS[kind]
        if record[kind] != version:
            raise ValueError(
                f"{path} holds a trace of version {str(record[kind])[:SHOWN_CHARACTERS]}, and this is the "
                f"program of version {version}; ask the question again with shrag {command} … --trace FILE"
            )
        try:
            parts.model_validate(record, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{path} holds no whole trace: {place}: {first['msg']}") from None
        return cls(record)


def differences(first: Trace, second: Trace) -> list[str]:
    """List where two traces differ but for times, as "path: first value | second value".

    Steps are compared by name, so that one more or less leaves the others comparable: `steps.search 2` is the
    second search within its step. So are papers by id and queries by text. The last line may say that there
    are more than 1,000.

    Raises:
        ValueError: one is of an answer, the other of a search for papers.
    """
    if first.is_of_finding != second.is_of_finding:
        raise ValueError("one is the trace of an answer, the other that of a search for papers")
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
            if not PASSING & {key, inside}:
                yield from _differ(first.get(key), second.get(key), inside)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from _differ(one, other, f"{path}[{place}]")
    else:
        yield f"{path}: {_short(first)} | {_short(second)}"


def _by_name(parts: Sequence[Any], named_by: Sequence[str]) -> dict[str, Any] | Sequence[Any]:
    """Key the parts of a list by name, those of the same name numbered from the second on.

    A list of which a part has no name stays as it is.
    """
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
