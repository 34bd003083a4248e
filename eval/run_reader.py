"""Reading of run files.

A run takes 8 bytes for each score and the bytes of each id. A ranking is decoded when it is used.
"""

import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TypeAlias
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from base.amounts import counted
from eval.errors import BadRun
from eval.files import Digest, numbered_blocks
from eval.runs import Ranking

Floats: TypeAlias = npt.NDArray[np.float64]

COLUMNS = 6
END = "\0"  # replaces the end of a line; no file contains it
# Numbers as C and trec_eval read them; Python also accepts 1_0 and digits of any script.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
RANK = re.compile(r"[+-]?0*\d{1,18}", re.ASCII)


class ReadRun(Mapping[str, Ranking]):
    """A run as it was read: rankings by score, ties by rank, with the ids of each ranking in one string."""

    def __init__(self, packed: Mapping[str, tuple[str, Floats]]) -> None:
        """`packed` has for each question the ids, separated by spaces, and the scores."""
        self._packed = packed

    def __getitem__(self, query_id: str) -> Ranking:
        ids, scores = self._packed[query_id]
        return list(zip(ids.split(" "), scores.tolist(), strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._packed

    def beginning(self, query_id: str, depth: int) -> Ranking:
        """Return the first `depth` hits, and further hits with the same score in single precision."""
        ids, scores = self._packed[query_id]
        with np.errstate(over="ignore"):
            rising = -scores.astype(np.float32)
        end = int(np.searchsorted(rising, rising[min(depth, len(rising)) - 1], side="right"))
        return list(zip(ids.split(" ", end)[:end], scores[:end].tolist(), strict=True))

    def has_sign(self, signs: str) -> bool:
        """Whether any id contains one of these characters."""
        return any(sign in ids for ids, _ in self._packed.values() for sign in signs)


@dataclass(slots=True)
class _Lines:
    """Lines of one question: ids, joined by spaces in parts; numbers of the lines, ranks and scores."""

    ids: list[str] = field(default_factory=list)
    numbers: "array[int]" = field(default_factory=lambda: array("q"))
    ranks: "array[int]" = field(default_factory=lambda: array("q"))
    scores: "array[float]" = field(default_factory=lambda: array("d"))


def read_run(path: str | Path, digest: Digest | None = None) -> ReadRun:
    """Read a run, optionally gzipped: rankings by score, ties by rank; `digest` hashes the bytes.

    Raises:
        BadRun: with file and line; wrong columns, an id or a rank twice for one question, a score that is not
            a number.
    """
    found: dict[str, _Lines] = {}
    for first, block in numbered_blocks(Path(path), BadRun, digest):
        _add_lines(path, first, normalize("NFC", block), found)  # same normal form as ids of an index
    return ReadRun({query_id: _ranked(path, query_id, found.pop(query_id)) for query_id in list(found)})


def _add_lines(path: str | Path, first: int, text: str, found: dict[str, _Lines]) -> None:
    """Add whole lines, from the number `first` on, to those of their questions."""
    width, count = COLUMNS + 1, text.count("\n")
    fields, numbers = text.replace("\n", f" {END} ").split(), array("q", range(first, first + count))
    if len(fields) != width * count:  # blank lines
        rows = [(number, line.split()) for number, line in zip(numbers, text.split("\n"), strict=False)]
        numbers = array("q", (number for number, row in rows if row))
        fields = [column for _, row in rows if row for column in (*row, END)]
    query_ids, ids, ranks, scores = (fields[column::width] for column in (0, 2, 3, 4))
    digits = "".join((*ranks, *scores))
    places, values = array("q"), array("d")
    try:
        places.extend(map(int, ranks))
        values.extend(map(float, scores))
    except (ValueError, OverflowError):
        digits = "_"
    usual = fields[COLUMNS::width] == [END] * len(numbers) and len(fields) == width * len(numbers)
    if not usual or "_" in digits or not digits.isascii() or not all(map(math.isfinite, values)):
        _check(path, first, text)
    start = 0
    for query_id, same in groupby(query_ids):
        part = slice(start, start := start + len(list(same)))
        lines = found.setdefault(query_id, _Lines())
        lines.ids.append(" ".join(ids[part]))
        lines.numbers.extend(numbers[part])
        lines.ranks.extend(places[part])
        lines.scores.extend(values[part])


def _check(path: str | Path, first: int, text: str) -> None:
    """Raise BadRun for the first line with an error."""
    for number, line in enumerate(text.split("\n")[:-1], first):
        if not (row := line.split()):
            continue
        if len(row) != COLUMNS:
            columns = counted(len(row), "column")
            raise BadRun(f"{path}:{number}: {columns}; a run has six: query_id Q0 id rank score tag")
        if not RANK.fullmatch(row[3]):
            raise BadRun(f"{path}:{number}: the rank {row[3]!r} is not a whole number")
        if not NUMBER.fullmatch(row[4]) or not math.isfinite(float(row[4])):
            raise BadRun(f"{path}:{number}: the score {row[4]!r} is not a number")


def _ranked(path: str | Path, query_id: str, lines: _Lines) -> tuple[str, Floats]:
    """Return the ids and scores of a question, best first.

    Raises:
        BadRun: an id or a rank occurs twice.
    """
    joined = " ".join(lines.ids)
    ids, ranks, scores = joined.split(" "), np.array(lines.ranks), np.array(lines.scores) + 0.0  # −0 is 0
    for column, values in (("", ids), ("rank ", lines.ranks.tolist())):
        if len(set(values)) < len(values):
            number, value, before = _repetition(lines.numbers, values)
            where = f"{path}:{number}: {column}{value}"
            raise BadRun(f"{where} occurs a second time for {query_id}, first in line {before}")
    if bool((np.diff(ranks) > 0).all()) and bool((np.diff(scores) <= 0).all()):
        return joined, scores
    order = np.lexsort((ranks, -scores))
    return " ".join([ids[place] for place in order]), scores[order]


def _repetition(numbers: Sequence[int], values: Sequence[object]) -> tuple[int, object, int]:
    """Return the line of the first value that occurs a second time, the value, and its first line."""
    seen: dict[object, int] = {}
    return next(
        (number, value, seen[value])
        for number, value in zip(numbers, values, strict=True)
        if seen.setdefault(value, number) != number
    )
