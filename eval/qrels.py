"""Qrels: relevance judgements, by query_id and by the id of a passage or paper.

Two formats, recognised by the number of columns: TREC's four (query_id, iteration, id, grade; any white
space), and BEIR's three (query-id, corpus-id, score; tabs and a header).
"""

import re
from pathlib import Path
from unicodedata import normalize

from base.amounts import counted
from eval.errors import BadQrels
from eval.files import Digest, numbered_lines

Qrels = dict[str, dict[str, int]]

TREC_COLUMNS = 4
BEIR_COLUMNS = 3
WHOLE_NUMBER = re.compile(r"[-+]?[0-9]{1,20}")
HIGHEST_GRADE = 1_000_000  # trec_eval allocates an array as long as the highest grade


def read_qrels(path: str | Path, digest: Digest | None = None) -> Qrels:
    """Read {query_id: {id: grade}} in the order of the file, optionally gzipped; 0 is judged not relevant.

    `digest` hashes the bytes read.

    Raises:
        BadQrels: with file and line; wrong columns, a grade that is not an integer, or contradictory grades.
    """
    qrels: Qrels = {}
    columns = 0
    for number, line in numbered_lines(Path(path), BadQrels, digest):
        where = f"{path}:{number}"
        parts = normalize("NFC", line).split()  # same normal form as ids of an index
        if not columns:
            columns = _columns(parts, where)
            if columns == BEIR_COLUMNS and not _is_grade(parts[-1]):
                continue  # the header
        if len(parts) != columns:
            raise BadQrels(f"{where}: {counted(len(parts), 'column')}, earlier lines have {columns}")
        query_id, judged, grade = parts[0], parts[-2], parts[-1]
        if not _is_grade(grade):
            raise BadQrels(
                f"{where}: {grade!r} is not a grade; a grade is a whole number, 0 for not relevant"
            )
        grades = qrels.setdefault(query_id, {})
        if grades.setdefault(judged, int(grade)) != int(grade):
            raise BadQrels(f"{where}: {judged} is judged {grade} for {query_id}, and {grades[judged]} before")
    if not qrels:
        raise BadQrels(f"{path}: it contains no judgements")
    return qrels


def _columns(parts: list[str], where: str) -> int:
    if len(parts) not in (TREC_COLUMNS, BEIR_COLUMNS):
        raise BadQrels(
            f"{where}: {counted(len(parts), 'column')}; "
            "TREC's qrels have four (query_id 0 id grade), BEIR's three with a header"
        )
    return len(parts)


def _is_grade(text: str) -> bool:
    return WHOLE_NUMBER.fullmatch(text) is not None and abs(int(text)) <= HIGHEST_GRADE
