"""The CSV of questions of a challenge, and the CSV of answers that it asks for.

Their columns are named by a mapping (`challenge_mapping.py`).
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.errors import BadTopics
from eval.experiments.challenge.form import ChallengeAnswer
from eval.experiments.challenge.mapping import NUMBERED, ChallengeMapping, QuestionColumns, text_of
from eval.files import Digest

MOST_BYTES = 64_000_000  # of a file of questions


@dataclass(frozen=True, slots=True)
class ChallengeQuestion:
    """A question, and the ids or titles of its relevant documents; none if it is not judged."""

    query_id: str
    question: str
    relevant: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question with its answer and the documents collected for it, best first."""

    question: ChallengeQuestion
    answer: ChallengeAnswer
    text: str  # in the form of the challenge
    documents: Sequence[Mapping[str, Any]]  # each with DOCUMENT_FIELDS


def read_questions(
    path: str | Path, columns: QuestionColumns, digest: Digest | None = None
) -> dict[str, ChallengeQuestion]:
    """Read the questions by id, in the order of the CSV; `digest` hashes the bytes read.

    Raises:
        BadTopics: with file and line; a missing column, a row of another length, an empty or repeated id, an
            empty question, or no question.
    """
    text = text_of(path, MOST_BYTES, BadTopics, digest)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    questions: dict[str, ChallengeQuestion] = {}
    try:
        header = [name.strip() for name in next(rows, [])]
        places = [_place(path, header, name) for name in (columns.id, columns.question)]
        relevant = _place(path, header, columns.relevant) if columns.relevant else None
        for row in rows:
            if not any(map(str.strip, row)):
                continue
            where = f"{path}:{rows.line_num}"
            if len(row) != len(header):
                raise BadTopics(f"{where}: {len(row)} cells, the header has {len(header)}")
            query_id, question = (row[place].strip() for place in places)
            _check(where, query_id, question, questions)
            named = row[relevant].split(columns.separator) if relevant is not None else ()
            judged = tuple(filter(None, map(str.strip, named)))
            questions[query_id] = ChallengeQuestion(query_id, question, judged)
    except csv.Error as error:
        raise BadTopics(f"{path}:{rows.line_num}: not a row of a table: {error}") from None
    if not questions:
        raise BadTopics(f"{path}: it contains no questions")
    return questions


def _place(path: str | Path, header: Sequence[str], name: str) -> int:
    if header.count(name) != 1:
        times = "no column" if name not in header else "several columns"
        raise BadTopics(f"{path}:1: {times} {name!r}; the header is {', '.join(header) or 'empty'}")
    return header.index(name)


def _check(where: str, query_id: str, question: str, known: Mapping[str, object]) -> None:
    if len(query_id.split()) != 1:
        raise BadTopics(f"{where}: {query_id!r} is not an id: an id is not empty and has no white space")
    if query_id in known:
        raise BadTopics(f"{where}: {query_id} occurs a second time; ids must be unique")
    if not question:
        raise BadTopics(f"{where}: the question of {query_id} is empty")


def written_table(mapping: ChallengeMapping, answered: Sequence[AnsweredQuestion], collected: int) -> str:
    """Return the CSV of answers, with the columns of the mapping.

    Args:
        mapping: names and contents of the columns.
        answered: the rows.
        collected: number of columns of a name with `{n}`; a row with fewer documents has empty cells.
    """
    file = io.StringIO(newline="")
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow([name for column in mapping.answers for name in _names(column, collected)])
    for each in answered:
        documents = [mapping.document.format.format(**document) for document in each.documents]
        values = {
            "id": each.question.query_id,
            "question": each.question.question,
            "answer": each.text,
            "title": each.answer.title,
            "introduction": each.answer.introduction,
            "body": each.answer.body,
            "conclusion": each.answer.conclusion,
            "documents": mapping.document.separator.join(documents),
            "": "",
        }
        rows.writerow(
            cell
            for column, value in mapping.answers.items()
            for cell in _cells(column, value, values, documents, collected)
        )
    return file.getvalue()


def _names(column: str, collected: int) -> Iterator[str]:
    if NUMBERED not in column:
        yield column
        return
    for number in range(1, collected + 1):
        yield column.replace(NUMBERED, str(number))


def _cells(
    column: str, value: str, values: Mapping[str, str], documents: Sequence[str], collected: int
) -> Iterator[str]:
    """Yield the cells of a column of the mapping: one, or one for each collected document."""
    if value != "document":
        yield from (values[value] for _ in _names(column, collected))
        return
    for place, _ in enumerate(_names(column, collected)):
        yield documents[place] if place < len(documents) else ""
