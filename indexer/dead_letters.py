"""Dead letters on their way to disk: a corpus may hold more of them than memory should."""

import json
from pathlib import Path
from typing import Self, TextIO

from indexer.readers import DeadLetter

SHOWN = 10


class DeadLetterFile:
    """A file of dead letters, one JSON object a line; there is none on disk as long as nothing was added.

    `first` are the first ten, `count` is how many there are.
    """

    def __init__(self, path: Path) -> None:
        """Begin anew at `path`."""
        path.unlink(missing_ok=True)
        self.first: list[DeadLetter] = []
        self.count = 0
        self._path = path
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, letter: DeadLetter) -> None:
        """Write one down."""
        if self._file is None:
            self._file = self._path.open("a", encoding="utf-8")
        record = {"file": letter.file, "line": letter.line, "reason": letter.reason, "head": letter.head}
        self._file.write(json.dumps(record, ensure_ascii=False) + "\n")
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(letter)
