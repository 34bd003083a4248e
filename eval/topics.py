"""Topics: the questions of an evaluation, by query_id.

Two formats, recognised by the first line: id, tab, question (as MIRACL has it), or JSON lines
{"query_id", "question"} with the keys of BEIR's queries.jsonl, _id and text, as aliases.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

from eval.errors import BadTopics
from eval.files import Digest, numbered_lines
from indexer.corpora.readers.json_records import DECODER

ID_KEYS = ("query_id", "_id", "id")
QUESTION_KEYS = ("question", "text", "query")


def read_topics(path: str | Path, digest: Digest | None = None) -> dict[str, str]:
    """Read {query_id: question} in the order of the file, optionally gzipped; `digest` hashes the bytes read.

    Raises:
        BadTopics: with file and line; a missing column, an empty question, a repeated id, or no topic.
    """
    topics: dict[str, str] = {}
    read: Callable[[str, str], tuple[str, str]] | None = None
    for number, line in numbered_lines(Path(path), BadTopics, digest):
        where = f"{path}:{number}"
        read = read or (_from_json if line.lstrip().startswith("{") else _from_columns)
        given_id, question = (part.strip() for part in read(line, where))
        query_id = _normal_id(given_id)
        if not query_id or len(query_id.split()) != 1:
            raise BadTopics(
                f"{where}: {query_id!r} is not a query id: an id is not empty and has no white space"
            )
        if not question:
            raise BadTopics(f"{where}: the question of {query_id} is empty")
        if query_id in topics:
            raise BadTopics(f"{where}: {query_id} occurs a second time; query ids must be unique")
        topics[query_id] = question
    if not topics:
        raise BadTopics(f"{path}: it contains no questions")
    return topics


def _from_columns(line: str, where: str) -> tuple[str, str]:
    query_id, tab, question = line.partition("\t")
    if not tab:
        raise BadTopics(f"{where}: one column instead of two: id, tab, question")
    if "\r" in question:
        raise BadTopics(f"{where}: a carriage return within the line; end lines with a line feed")
    return query_id, question


def _from_json(line: str, where: str) -> tuple[str, str]:
    try:
        record = DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        raise BadTopics(f"{where}: not JSON ({error})") from None
    if not isinstance(record, dict):
        raise BadTopics(f'{where}: not a JSON object {{"query_id": …, "question": …}}')
    return _value(record, ID_KEYS, where), _value(record, QUESTION_KEYS, where)


def query_id_of(record: Mapping[str, Any], where: str) -> str:
    """Return the id of a topic in JSON lines, as `read_topics` has it; raises BadTopics if there is none."""
    return _normal_id(_value(record, ID_KEYS, where).strip())


def _normal_id(query_id: str) -> str:
    return normalize("NFC", query_id)  # same normal form as in qrels and runs


def _value(record: Mapping[str, Any], keys: tuple[str, ...], where: str) -> str:
    for key in keys:
        value = record.get(key)
        if isinstance(value, str):
            try:
                value.encode("utf-8")
            except UnicodeEncodeError as error:
                raise BadTopics(f"{where}: a lone surrogate at character {error.start} of {key!r}") from None
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    raise BadTopics(f'{where}: no "{keys[0]}" (or {", ".join(keys[1:])}) with a text')
