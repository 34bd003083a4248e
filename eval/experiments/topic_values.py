"""Values of topics in JSON lines besides the question, such as the day of a question."""

import gzip
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from base.calls import reason
from eval.errors import BadTopics
from eval.files import GZIP_MAGIC, MARK, Input
from eval.topics import query_id_of
from indexer.corpora.readers.jsonl import DECODER

T = TypeVar("T")


def topic_values(topics: Input, key: str, kind: TypeAdapter[T]) -> dict[str, T]:
    """Return the values of a key by query_id; topics without a value, and in columns, are left out.

    They are read from the copy of the bytes, since a pipe can be read only once.

    Args:
        topics: a file that `read_topics` has read.
        key: of the JSON objects.
        kind: checks and converts a value.

    Raises:
        BadTopics: with file and line; a value of another type.
    """
    content = Path(topics.path).read_bytes() if topics.content is None else topics.content
    if content.startswith(GZIP_MAGIC):
        content = gzip.decompress(content)
    values: dict[str, T] = {}
    for number, line in enumerate(content.decode().split("\n"), 1):
        text = line.removeprefix(MARK).strip()
        if not text.startswith("{"):
            continue
        where, record = f"{topics.path}:{number}", DECODER.decode(text)
        if record.get(key) in (None, ""):
            continue
        try:
            values[query_id_of(record, where)] = kind.validate_python(record[key])
        except ValidationError as error:
            raise BadTopics(f"{where}: {key}: {reason(error)}") from None
    return values
