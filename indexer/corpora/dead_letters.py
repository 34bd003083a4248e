"""Files of dead letters, which may be too many for memory."""

from dataclasses import asdict
from pathlib import Path
from typing import Self, TextIO

from base.terminal.output import json_text
from indexer.corpora.readers import DeadLetter

SHOWN = 10
MOST_BYTES = 16_000_000  # size limit of the file


class DeadLetterFile:
    """A file of dead letters, one JSON object per line; created with the first one.

    `first` contains the first ten, `count` is their total number, `written` the number in the file. If the
    file reached its size limit, its last line says how many more there were.
    """

    def __init__(self, path: Path) -> None:
        """Create a new file at `path`, replacing an old one."""
        path.unlink(missing_ok=True)
        self.first: list[DeadLetter] = []
        self.count = self.written = 0
        self._room = MOST_BYTES
        self._path = path
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if self._file is not None:
            if more := self.count - self.written:
                self._file.write(_as_line(DeadLetter("", 0, f"{more:,} more are not listed here", "")))
            self._file.close()
            self._file = None

    def add(self, letter: DeadLetter) -> None:
        """Write a dead letter."""
        if self._file is None:
            self._file = self._path.open("a", encoding="utf-8")
        line = _as_line(letter)
        self.count += 1
        self._room -= len(line.encode())
        if self._room >= 0:
            self._file.write(line)
            self.written += 1
        if len(self.first) < SHOWN:
            self.first.append(letter)


def _as_line(letter: DeadLetter) -> str:
    return json_text(asdict(letter)) + "\n"
