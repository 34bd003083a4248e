"""Runs: what a method found for each question, best first, in TREC's six columns.

    query_id Q0 id rank score tag

trec_eval takes the order from the scores alone, reads them in single precision, and breaks ties by id. So
that everyone who scores a run file sees the order that was meant, a score that would not be lower than the
one before it is written a small step below it.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

from base.amounts import counted
from base.files.output_files import write_output
from eval.errors import BadRun
from eval.files import numbered_lines

if TYPE_CHECKING:
    from hashlib import _Hash

Ranking = list[tuple[str, float]]
Run = dict[str, Ranking]

COLUMNS = 6
SMALLEST_STEP = np.float32(1e-6)
LARGEST_SCORE = 1e30
# As C reads them, and trec_eval with it; Python would read 1_0 and the digits of any script.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
RANK = re.compile(r"[+-]?\d{1,18}", re.ASCII)


def write_run(path: str | Path, run: Mapping[str, Sequence[tuple[str, float]]], tag: str) -> str:
    """Write a run and return the SHA-256 of its bytes; the order of each ranking counts, its scores follow.

    A question without hits has no line: the format cannot say it.

    Raises:
        BadRun: an id with white space or twice in a ranking, a score that is no number.
        OutputNotWritten: disk full, no permission.
    """
    if not _is_word(tag):
        raise BadRun(f"{tag!r} cannot tag a run: a tag is one word")
    lines = (line for query_id, ranking in run.items() for line in run_lines(query_id, ranking, tag))
    content = "".join(lines).encode("utf-8")
    write_output(Path(path), content)
    return hashlib.sha256(content).hexdigest()


def run_lines(query_id: str, ranking: Sequence[tuple[str, float]], tag: str) -> list[str]:
    """Return the lines of a question; raises BadRun as `write_run`."""
    _check_ids(query_id, [found for found, _ in ranking])
    return [
        f"{query_id} Q0 {found} {rank} {score} {tag}\n"
        for rank, (found, score) in enumerate(as_written(ranking), 1)
    ]


def as_written(ranking: Iterable[tuple[str, float]]) -> Ranking:
    """Return the ranking with the scores that its run file has: strictly falling in single precision.

    Raises:
        BadRun: a score that is no number.
    """
    ids, given = [], []
    for found, score in ranking:
        if not abs(score) <= LARGEST_SCORE:
            raise BadRun(f"{found} has the score {score}, which no run file can hold")
        ids.append(found)
        given.append(score)
    scores = np.asarray(given, dtype=np.float32) + np.float32(0)  # −0 is 0
    for place in range(1, len(scores)):
        above = scores[place - 1]
        if scores[place] >= above:
            scores[place] = above - max(SMALLEST_STEP, np.spacing(abs(above)))
    return [(found, float(str(score))) for found, score in zip(ids, scores, strict=True)]


def read_run(path: str | Path, digest: "_Hash | None" = None) -> Run:
    """Read a run, gzip unpacked: rankings by score, ties by the rank in the file; `digest` is of its bytes.

    Raises:
        BadRun: with file and line; wrong columns, an id twice for one question, a score that is no number.
    """
    rows: dict[str, list[tuple[float, int, str]]] = {}
    seen: set[tuple[str, str]] = set()
    for number, line in numbered_lines(Path(path), BadRun, digest):
        where = f"{path}:{number}"
        parts = normalize("NFC", line).split()  # ids as those of an index
        if len(parts) != COLUMNS:
            raise BadRun(
                f"{where}: {counted(len(parts), 'column')}; a run has six: query_id Q0 id rank score tag"
            )
        query_id, _, found, rank, score, _ = parts
        if (query_id, found) in seen:
            raise BadRun(f"{where}: {found} stands a second time for {query_id}")
        seen.add((query_id, found))
        rows.setdefault(query_id, []).append((-_number(score, where), _rank(rank, where), found))
    return {
        query_id: [(found, 0.0 - score) for score, _, found in sorted(found_rows, key=lambda row: row[:2])]
        for query_id, found_rows in rows.items()
    }


def _number(text: str, where: str) -> float:
    score = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(score):
        raise BadRun(f"{where}: the score {text!r} is no number")
    return score


def _rank(text: str, where: str) -> int:
    if not RANK.fullmatch(text):
        raise BadRun(f"{where}: the rank {text!r} is no whole number")
    return int(text)


def _check_ids(query_id: str, ids: list[str]) -> None:
    for name in (query_id, *ids):
        if not _is_word(name):
            raise BadRun(f"{name!r} cannot stand in a run: an id is not empty and has no white space")
    if len(set(ids)) < len(ids):
        twice = next(found for place, found in enumerate(ids) if found in ids[:place])
        raise BadRun(f"{twice} stands twice in the ranking of {query_id}")


def _is_word(text: str) -> bool:
    return text.split() == [text]
