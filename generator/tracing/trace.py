"""Traces of answers and of searches for papers: saving and loading."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.terminal.output import json_text
from base.untrusted import read_json

TRACE_VERSION = 2
FINDING_VERSION = 1  # of a search for papers
MOST_BYTES = 32_000_000  # of a saved trace; one with the full texts of five papers has about ten thousand
SHOWN_CHARACTERS = 80  # of an unknown version

# Kinds of traces by their version key, with their version and the command that saves them.
KINDS = {"trace": (TRACE_VERSION, "ask"), "finding": (FINDING_VERSION, "find-papers")}


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
        """Load a saved trace; a ValueError names a file that is unreadable or not a trace."""
        try:
            record = read_json(read_regular(path, MOST_BYTES))
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise ValueError(f"{path} is not valid JSON: {error}") from None
        kind = next((kind for kind in KINDS if isinstance(record, dict) and kind in record), None)
        if kind is None:
            raise ValueError(f"{path} is not a trace; make one with: shrag ask … --trace FILE")
        version, command = KINDS[kind]
        if record[kind] != version:
            raise ValueError(
                f"{path} is a trace of version {str(record[kind])[:SHOWN_CHARACTERS]}, and this program "
                f"reads version {version}; ask the question again with shrag {command} … --trace FILE"
            )
        return cls(record)
