"""Reading of run files.

A run takes 8 bytes for each score and the bytes of each id. A ranking is decoded when it is used.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
Whole: TypeAlias = npt.NDArray[np.int64]

COLUMNS = 6
END = "\0"  # replaces the end of a line; no file contains it
MOST_PARTS = 64  # of a question whose lines are not adjacent
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


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of one question: their numbers, ids separated by spaces, ranks and scores."""

    query_id: str
    numbers: Whole
    ids: str
    ranks: Whole
    scores: Floats


def read_run(path: str | Path, digest: Digest | None = None) -> ReadRun:
    """Read a run, optionally gzipped: rankings by score, ties by rank; `digest` hashes the bytes.

    Raises:
        BadRun: with file and line; wrong columns, an id or a rank twice for one question, a score that is not
            a number.
    """
    found: dict[str, list[Lines]] = {}
    for first, block in numbered_blocks(Path(path), BadRun, digest):
        for lines in _lines_of(path, first, normalize("NFC", block)):  # same normal form as ids of an index
            parts = found.setdefault(lines.query_id, [])
            parts.append(lines)
            if len(parts) == MOST_PARTS:
                parts[:] = [_joined(parts)]
    return ReadRun({query_id: _ranked(path, _joined(found.pop(query_id))) for query_id in list(found)})


def _lines_of(path: str | Path, first: int, text: str) -> Iterator[Lines]:
    """Yield adjacent lines of a question; `text` has whole lines, from the number `first` on."""
    width, count = COLUMNS + 1, text.count("\n")
    fields, numbers = text.replace("\n", f" {END} ").split(), np.arange(first, first + count)
    if len(fields) != width * count:  # blank lines
        lines = text.split("\n")[:-1]
        numbers = numbers[[bool(line.split()) for line in lines]]
        fields = [field for line in lines if line.split() for field in (*line.split(), END)]
    query_ids, ids, ranks, scores = (fields[column::width] for column in (0, 2, 3, 4))
    digits = "".join((*ranks, *scores))
    try:
        places = np.fromiter(map(int, ranks), np.int64, len(ranks))
        values = np.fromiter(map(float, scores), np.float64, len(scores))
    except (ValueError, OverflowError):
        digits = "_"
    usual = fields[COLUMNS::width] == [END] * len(numbers) and len(fields) == width * len(numbers)
    if not usual or "_" in digits or not digits.isascii() or not np.isfinite(values).all():
        _check(path, first, text)
    start = 0
    for query_id, same in groupby(query_ids):
        part = slice(start, start := start + len(list(same)))
        yield Lines(query_id, numbers[part], " ".join(ids[part]), places[part], values[part])


def _check(path: str | Path, first: int, text: str) -> None:
    """Raise BadRun for the first line with an error."""
    for number, line in enumerate(text.split("\n")[:-1], first):
        if not (row := line.split()):
            continue
        if len(row) != COLUMNS:
            columns = counted(len(row), "column")
            raise BadRun(f"{path}:{number}: {columns}; a run has six: query_id Q0 id rank score tag")
        _, _, _, rank, score, _ = row
        if not RANK.fullmatch(rank):
            raise BadRun(f"{path}:{number}: the rank {rank!r} is not a whole number")
        if not NUMBER.fullmatch(score) or not math.isfinite(float(score)):
            raise BadRun(f"{path}:{number}: the score {score!r} is not a number")


def _joined(parts: Sequence[Lines]) -> Lines:
    return Lines(
        parts[0].query_id,
        np.concatenate([part.numbers for part in parts]),
        " ".join(part.ids for part in parts),
        np.concatenate([part.ranks for part in parts]),
        np.concatenate([part.scores for part in parts]),
    )


def _ranked(path: str | Path, lines: Lines) -> tuple[str, Floats]:
    """Return the ids and scores of a question, best first.

    Raises:
        BadRun: an id or a rank occurs twice.
    """
    ids, ranks, scores = lines.ids.split(" "), lines.ranks, lines.scores + 0.0  # −0 is 0
    ascending = bool((np.diff(ranks) > 0).all())
    if len(set(ids)) < len(ids):
        raise BadRun(_repetition(path, lines, "", ids))
    if not ascending and len(np.unique(ranks)) < len(ranks):
        raise BadRun(_repetition(path, lines, "rank ", ranks.tolist()))
    if ascending and bool((np.diff(scores) <= 0).all()):
        return lines.ids, scores
    order = np.lexsort((ranks, -scores))
    return " ".join([ids[place] for place in order]), scores[order]


def _repetition(path: str | Path, lines: Lines, column: str, values: Sequence[object]) -> str:
    """Name the first value that occurs a second time, and both lines."""
    seen: dict[object, int] = {}
    number, value = next(
        (number, value)
        for number, value in zip(lines.numbers.tolist(), values, strict=True)
        if seen.setdefault(value, number) != number
    )
    return (
        f"{path}:{number}: {column}{value} occurs a second time for {lines.query_id}, "
        f"first in line {seen[value]}"
    )
