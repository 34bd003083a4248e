"""Reading of run files: all lines of a question together, and line by line where the form is unusual.

A run takes 8 bytes for each score and the bytes of each id. A ranking is decoded when it is used.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
# Adjacent lines of a question. Most of them agree before the id (`start`) and after the score (`end`).
LINES = re.compile(
    r"(?P<start>(?P<query_id>\S+[ \t])\S+[ \t])\S+[ \t]\S+[ \t]\S+(?P<end>[ \t]\S+\r?\n)"
    r"(?:(?P=query_id)[^\n]*+\n)*+"
)
VARIABLE_COLUMNS = 3  # id, rank, score
MOST_PARTS = 64  # of a question whose lines are not adjacent
END = "\0"  # replaces the end of a line; no file contains it
# Numbers as C and trec_eval read them; Python also accepts 1_0 and digits of any script.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
RANK = re.compile(r"[+-]?0*\d{1,18}", re.ASCII)
HIGHEST_RANK = 10**18 - 1


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
        text = normalize("NFC", block)  # same normal form as ids of an index
        for lines in _usual_lines(first, text) or _checked_lines(path, first, text):
            parts = found.setdefault(lines.query_id, [])
            parts.append(lines)
            if len(parts) == MOST_PARTS:
                parts[:] = [_joined(parts)]
    return ReadRun({query_id: _ranked(path, _joined(found.pop(query_id))) for query_id in list(found)})


def _usual_lines(first: int, text: str) -> list[Lines] | None:
    """Return the lines of a block; None if any line has an error or an unusual form."""
    found, place = [], 0
    while place < len(text):
        match = LINES.match(text, place)
        lines = match and _of_one_form(first, match)
        if not match or not lines:
            return None
        found.append(lines)
        first, place = first + len(lines.numbers), match.end()
    return found


def _of_one_form(first: int, match: re.Match[str]) -> Lines | None:
    """Return lines that differ in id, rank and score only; None if they do not, or have an error."""
    start, end, width = match["start"], match["end"], VARIABLE_COLUMNS + 1
    fields = match[0].replace(end + start, f" {END} ").removeprefix(start).removesuffix(end).split()
    fields.append(END)
    count, excess = divmod(len(fields), width)
    if excess or fields[VARIABLE_COLUMNS::width] != [END] * count:
        return None
    ranks, scores = fields[1::width], fields[2::width]
    digits = "".join((*ranks, *scores))
    if "_" in digits or not digits.isascii():
        return None
    try:
        places = np.fromiter(map(RANKS.__getitem__, ranks), np.int64, count)
        values = np.fromiter(map(float, scores), np.float64, count)
    except (ValueError, OverflowError):
        return None
    if not np.isfinite(values).all() or np.abs(places).max() > HIGHEST_RANK:
        return None
    ids = " ".join(fields[::width])
    return Lines(match["query_id"].rstrip(), np.arange(first, first + count), ids, places, values)


class _Ranks(dict[str, int]):
    """Usual ranks by their digits; others are converted."""

    def __missing__(self, digits: str) -> int:
        return int(digits)


RANKS = _Ranks((str(rank), rank) for rank in range(1001))


def _checked_lines(path: str | Path, first: int, text: str) -> list[Lines]:
    """Return the lines of a block, read one by one; raise BadRun for the first one with an error."""
    found: dict[str, list[tuple[int, str, int, float]]] = {}
    for number, line in enumerate(text.split("\n")[:-1], first):
        where = f"{path}:{number}"
        parts = line.split()
        if not parts:
            continue
        if len(parts) != COLUMNS:
            raise BadRun(
                f"{where}: {counted(len(parts), 'column')}; a run has six: query_id Q0 id rank score tag"
            )
        query_id, _, ranked, rank, score, _ = parts
        row = (number, ranked, _rank(rank, where), _number(score, where))
        found.setdefault(query_id, []).append(row)
    return [_lines(query_id, rows) for query_id, rows in found.items()]


def _lines(query_id: str, rows: Sequence[tuple[int, str, int, float]]) -> Lines:
    numbers, ids, ranks, scores = zip(*rows, strict=True)
    return Lines(query_id, np.array(numbers), " ".join(ids), np.array(ranks), np.array(scores))


def _number(text: str, where: str) -> float:
    score = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(score):
        raise BadRun(f"{where}: the score {text!r} is not a number")
    return score


def _rank(text: str, where: str) -> int:
    if not RANK.fullmatch(text):
        raise BadRun(f"{where}: the rank {text!r} is not a whole number")
    return int(text)


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
