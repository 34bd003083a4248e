"""Runs: the ranking of each question, best first, in TREC's six columns.

    query_id Q0 id rank score tag

trec_eval sorts by score alone, reads scores in single precision, and breaks ties by id. To preserve the order
of a run file in every tool, a score that is not below the one before it is lowered by a small step.
`run_reader.py` reads run files.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from base.files.output_files import write_output
from eval.errors import BadRun

Ranking = list[tuple[str, float]]
Run = dict[str, Ranking]

SMALLEST_STEP = np.float32(1e-6)
LARGEST_SCORE = 1e30


def write_run(path: str | Path, run: Mapping[str, Sequence[tuple[str, float]]], tag: str) -> str:
    """Write a run and return the SHA-256 of its bytes; scores are adapted to the order of each ranking.

    A question without hits has no line, as the format cannot represent it.

    Raises:
        BadRun: an id contains white space or occurs twice in a ranking, or a score is not a number.
        OutputNotWritten: the disk is full, or permission is missing.
    """
    if not _is_word(tag):
        raise BadRun(f"{tag!r} is not a valid tag: a tag is one word")
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
    """Return the ranking with the scores of its run file: strictly decreasing in single precision.

    Raises:
        BadRun: a score is not a number.
    """
    ids, given = [], []
    for found, score in ranking:
        if not abs(score) <= LARGEST_SCORE:
            raise BadRun(f"{found} has the score {score}, which a run file cannot represent")
        ids.append(found)
        given.append(score)
    scores = np.asarray(given, dtype=np.float32) + np.float32(0)  # −0 is 0
    for place in range(1, len(scores)):
        above = scores[place - 1]
        if scores[place] >= above:
            scores[place] = above - max(SMALLEST_STEP, np.spacing(abs(above)))
    return [(found, float(str(score))) for found, score in zip(ids, scores, strict=True)]


def _check_ids(query_id: str, ids: list[str]) -> None:
    for name in (query_id, *ids):
        if not _is_word(name):
            raise BadRun(f"{name!r} is not a valid id in a run: an id is not empty and has no white space")
    if len(set(ids)) < len(ids):
        twice = next(found for place, found in enumerate(ids) if found in ids[:place])
        raise BadRun(f"{twice} occurs twice in the ranking of {query_id}")


def _is_word(text: str) -> bool:
    return text.split() == [text]
