"""The files of a test collection: topics, qrels, and JSON lines about topics, each optionally gzipped.

| file | forms |
|---|---|
| topics | id, tab, question (MIRACL's form), or JSON lines: query_id and question, or BEIR's _id and text |
| qrels | TREC's four columns (query_id, iteration, id, grade; any white space), BEIR's three with a header |
| lines about topics | JSON lines with a query_id; other keys are ignored |

Ids are composed (NFC), like the ids of an index.
"""

import re
from collections.abc import Callable
from typing import Annotated, TypeAlias, TypeVar
from unicodedata import normalize

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from base.amounts import counted
from base.calls import reason
from eval.errors import BadQrels, BadTopics
from eval.files import Source, numbered_lines

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Qrels: TypeAlias = dict[str, dict[str, int]]  # grades by query_id and id; 0 is judged not relevant

TREC_COLUMNS, BEIR_COLUMNS = 4, 3
WHOLE_NUMBER = re.compile(r"[-+]?[0-9]{1,20}")
HIGHEST_GRADE = 1_000_000  # trec_eval allocates an array as long as the highest grade


def _query_id(value: str) -> str:
    if len(value.split()) != 1:
        raise ValueError(f"{value!r} contains white space")
    return normalize("NFC", value)


QueryId = Annotated[Text, AfterValidator(_query_id)]


class QueryLine(BaseModel):
    """A line about a topic; the kinds of files have subclasses."""

    model_config = ConfigDict(frozen=True)

    query_id: QueryId


class TopicLine(QueryLine):
    """A topic; subclasses have further keys."""

    model_config = ConfigDict(coerce_numbers_to_str=True, populate_by_name=True)

    query_id: QueryId = Field(validation_alias=AliasChoices("query_id", "_id", "id"))
    question: Text = Field(validation_alias=AliasChoices("question", "text", "query"))


class PaperQuestion(QueryLine):
    """A question about a paper with reference answers.

        {"query_id": "Q1", "question": "…", "topic": "PAPER-1", "answers": ["…"], "strings": ["12 months"]}

    `topic` is the id or the exact title of the paper that the question is about; without it the answer may
    come from any paper. A correct answer contains one of `strings`.
    """

    question: Text
    topic: Text | None = None
    answers: Annotated[tuple[Text, ...], Field(min_length=1)]
    strings: tuple[Text, ...] = ()


L = TypeVar("L", bound=QueryLine)
T = TypeVar("T", bound=TopicLine)


def read_topics(source: Source) -> dict[str, str]:
    """Read {query_id: question}; raises as `read_topic_lines`."""
    return {query_id: topic.question for query_id, topic in read_topic_lines(source, TopicLine).items()}


def read_topic_lines(source: Source, kind: type[T]) -> dict[str, T]:
    """Read topics by query_id, in the order of the file.

    Raises:
        BadTopics: with file and line; a missing column, an empty question, a repeated id, or no topic.
    """

    def read(line: str) -> T:
        if line.lstrip().startswith("{"):
            return kind.model_validate_json(line)
        query_id, tab, question = line.partition("\t")
        if not tab:
            raise BadTopics("one column instead of two: id, tab, question")
        if "\r" in question:
            raise BadTopics("a carriage return within the line; end lines with a line feed")
        return kind.model_validate({"query_id": query_id, "question": question})

    return _by_query_id(source, read, "questions")


def read_query_lines(source: Source, kind: type[L], name: str) -> dict[str, L]:
    """Read JSON lines about topics by query_id, in the order of the file; messages call them `name`.

    Raises:
        BadTopics: with file and line; no JSON, a missing or invalid value, a repeated id, or no line.
    """
    return _by_query_id(source, kind.model_validate_json, name)


def _by_query_id(source: Source, read: Callable[[str], L], name: str) -> dict[str, L]:
    found: dict[str, L] = {}
    for number, line in numbered_lines(source, BadTopics):
        try:
            record = read(line)
        except (ValidationError, BadTopics) as error:
            why = reason(error) if isinstance(error, ValidationError) else error
            raise BadTopics(f"{source}:{number}: {why}") from None
        if record.query_id in found:
            raise BadTopics(f"{source}:{number}: {record.query_id} occurs a second time; ids must be unique")
        found[record.query_id] = record
    if not found:
        raise BadTopics(f"{source}: it contains no {name}")
    return found


def read_qrels(source: Source) -> Qrels:
    """Read {query_id: {id: grade}} in the order of the file.

    Raises:
        BadQrels: with file and line; wrong columns, a grade that is not an integer, or contradictory grades.
    """
    qrels: Qrels = {}
    columns = 0
    for number, line in numbered_lines(source, BadQrels):
        where, parts = f"{source}:{number}", normalize("NFC", line).split()
        if not columns:
            columns = len(parts)
            if columns not in {TREC_COLUMNS, BEIR_COLUMNS}:
                raise BadQrels(
                    f"{where}: {counted(columns, 'column')}; "
                    "TREC's qrels have four (query_id 0 id grade), BEIR's three with a header"
                )
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
        raise BadQrels(f"{source}: it contains no judgements")
    return qrels


def _is_grade(text: str) -> bool:
    return WHOLE_NUMBER.fullmatch(text) is not None and abs(int(text)) <= HIGHEST_GRADE
