"""Runs: the ranking of each question, best first, in TREC's six columns.

    query_id Q0 id rank score tag

trec_eval sorts by score alone, reads scores in single precision, and breaks ties by id. To preserve the order
of a run file in every tool, a score that is not below the one before it is lowered by a small step.

A run that was read takes 8 bytes for each score and the bytes of each id. A ranking is decoded when it is
used.
"""

import hashlib
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TypeAlias
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from base.amounts import counted
from base.files.output_files import write_output
from eval.errors import BadRun
from eval.files import Source, numbered_blocks

Ranking: TypeAlias = list[tuple[str, float]]
Run: TypeAlias = dict[str, Ranking]
Floats: TypeAlias = npt.NDArray[np.float64]

SMALLEST_STEP, LARGEST_SCORE = np.float32(1e-6), 1e30
COLUMNS = 6
# Numbers as C and trec_eval read them; Python also accepts 1_0 and digits of any script.
SCORE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
RANK = re.compile(r"[+-]?0*\d{1,18}", re.ASCII)


def write_run(path: str | Path, run: Mapping[str, Sequence[tuple[str, float]]], tag: str) -> str:
    """Write a run and return the SHA-256 of its bytes; scores are adapted to the order of each ranking.

    A question without hits has no line, as the format cannot represent it.

    Raises:
        BadRun: an id contains white space or occurs twice in a ranking, or a score is not a number.
        OutputNotWritten: the disk is full, or permission is missing.
    """
    lines = (line for query_id, ranking in run.items() for line in run_lines(query_id, ranking, tag))
    content = "".join(lines).encode()
    write_output(Path(path), content)
    return hashlib.sha256(content).hexdigest()


def run_lines(query_id: str, ranking: Sequence[tuple[str, float]], tag: str) -> list[str]:
    """Return the lines of a question; raises BadRun as `write_run`."""
    seen = set[str]()
    for name in (tag, query_id, *(found for found, _ in ranking)):
        if name.split() != [name]:
            raise BadRun(f"{name!r} is not a valid id in a run: an id is not empty and has no white space")
    for found, _ in ranking:
        if found in seen:
            raise BadRun(f"{found} occurs twice in the ranking of {query_id}")
        seen.add(found)
    return [
        f"{query_id} Q0 {found} {rank} {score} {tag}\n"
        for rank, (found, score) in enumerate(as_written(ranking), 1)
    ]


def as_written(ranking: Iterable[tuple[str, float]]) -> Ranking:
    """Return the ranking with the scores of its run file: strictly decreasing in single precision.

    Raises:
        BadRun: a score is not a number.
    """
    given = list(ranking)
    for found, score in given:
        if not abs(score) <= LARGEST_SCORE:
            raise BadRun(f"{found} has the score {score}, which a run file cannot represent")
    scores = np.asarray([score for _, score in given], dtype=np.float32) + np.float32(0)  # −0 is 0
    for place in range(1, len(scores)):
        above = scores[place - 1]
        if scores[place] >= above:
            scores[place] = above - max(SMALLEST_STEP, np.spacing(abs(above)))
    return [(found, float(str(score))) for (found, _), score in zip(given, scores, strict=True)]


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

    def beginning(self, query_id: str, depth: int) -> Ranking:
        """Return the first `depth` hits, and further hits with the same score in single precision."""
        ids, scores = self._packed[query_id]
        with np.errstate(over="ignore"):
            rising = -scores.astype(np.float32)
        end = int(np.searchsorted(rising, rising[min(depth, len(rising)) - 1], side="right"))
        return list(zip(ids.split(" ", end)[:end], scores[:end].tolist(), strict=True))


@dataclass(slots=True)
class _Lines:
    """Lines of one question: ids, joined by spaces in parts; ranks and scores."""

    ids: list[str] = field(default_factory=list)
    ranks: "array[int]" = field(default_factory=lambda: array("q"))
    scores: "array[float]" = field(default_factory=lambda: array("d"))


def read_run(path: Source) -> ReadRun:
    """Read a run, optionally gzipped: rankings by score, ties by rank.

    Raises:
        BadRun: wrong columns or a score that is not a number, with file and line; an id or a rank twice for
            one question.
    """
    found: dict[str, _Lines] = {}
    for first, block in numbered_blocks(path, BadRun):
        text = normalize("NFC", block)  # same normal form as ids of an index
        fields = text.split()
        if (numbers := _numbers_of(fields, text.count("\n"))) is None:
            fields = _checked(path, first, text)
            numbers = array("q", map(int, fields[3::COLUMNS])), array("d", map(float, fields[4::COLUMNS]))
        ids, start = fields[2::COLUMNS], 0
        for query_id, same in groupby(fields[::COLUMNS]):
            part = slice(start, start := start + len(list(same)))
            lines = found.setdefault(query_id, _Lines())
            lines.ids.append(" ".join(ids[part]))
            lines.ranks.extend(numbers[0][part])
            lines.scores.extend(numbers[1][part])
    return ReadRun({query_id: _ranked(path, query_id, found.pop(query_id)) for query_id in list(found)})


def _numbers_of(fields: Sequence[str], lines: int) -> "tuple[array[int], array[float]] | None":
    """Return the ranks and scores of a block; None unless all lines have the usual columns and numbers."""
    if len(fields) != COLUMNS * lines or fields[1::COLUMNS].count("Q0") != lines:
        return None
    ranks, scores = (fields[column::COLUMNS] for column in (3, 4))
    digits = "".join((*ranks, *scores))
    try:
        parsed = array("q", map(int, ranks)), array("d", map(float, scores))
    except (ValueError, OverflowError):
        return None
    return parsed if digits.isascii() and "_" not in digits and all(map(math.isfinite, parsed[1])) else None


def _checked(path: Source, first: int, text: str) -> list[str]:
    """Return the fields of the nonblank lines; raise BadRun for a line with an error."""
    fields = list[str]()
    for number, line in enumerate(text.split("\n"), first):
        if not (row := line.split()):
            continue
        if len(row) != COLUMNS:
            columns = counted(len(row), "column")
            raise BadRun(f"{path}:{number}: {columns}; a run has six: query_id Q0 id rank score tag")
        for name, value, form in (("rank", row[3], RANK), ("score", row[4], SCORE)):
            if not form.fullmatch(value) or not math.isfinite(float(value)):
                raise BadRun(f"{path}:{number}: the {name} {value!r} is not a number")
        fields += row
    return fields


def _ranked(path: Source, query_id: str, lines: _Lines) -> tuple[str, Floats]:
    """Return the ids and scores of a question, best first; raises BadRun for an id or a rank that repeats."""
    joined = " ".join(lines.ids)
    ids, ranks, scores = joined.split(" "), np.array(lines.ranks), np.array(lines.scores) + 0.0  # −0 is 0
    for column, values in (("id", ids), ("rank", lines.ranks)):
        if len(set(values)) != len(values):
            [(value, _)] = Counter[object](values).most_common(1)
            raise BadRun(f"{path}: {column} {value} occurs a second time for {query_id}")
    if bool((np.diff(ranks) > 0).all()) and bool((np.diff(scores) <= 0).all()):
        return joined, scores
    order = np.lexsort((ranks, -scores))
    return " ".join([ids[place] for place in order]), scores[order]
