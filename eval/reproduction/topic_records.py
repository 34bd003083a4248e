"""Further values of topics in JSON lines, besides id and question: days, excluded papers."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from base.calls import reason
from base.files.durable import cause_of
from base.files.regular_files import open_regular
from eval.errors import BadTopics
from eval.files import GZIP_MAGIC, MARK
from eval.reproduction.materials import Input
from eval.topics import id_of
from indexer.corpora.readers.jsonl import DECODER

T = TypeVar("T", bound=BaseModel)


def topic_records(topics: Input, kind: type[T]) -> Iterator[tuple[str, T]]:
    """Yield the query_id and the further values of each topic; none for topics in columns.

    The topics are valid, since `read_topics` has read them. The copy of their bytes is parsed, since a pipe
    can be read only once; a file that is too large for a copy is read again.

    Raises:
        BadTopics: with file and line; a value has another type, or the file cannot be read again.
    """
    for number, line in enumerate(_text(topics).split("\n"), 1):
        line = line.removeprefix(MARK).strip()  # noqa: PLW2901 - as `read_topics`
        if not line:
            continue
        if not line.startswith("{"):
            return
        where, record = f"{topics.path}:{number}", DECODER.decode(line)
        try:
            yield id_of(record, where), kind.model_validate(record)
        except ValidationError as error:
            raise BadTopics(f"{where}: {reason(error)}") from None


def _text(topics: Input) -> str:
    content = topics.content
    if content is None:
        try:
            with open_regular(Path(topics.path)) as file:
                content = file.read()
        except OSError as error:
            raise BadTopics(f"{topics.path} cannot be read again: {cause_of(error)}") from None
    return (gzip.decompress(content) if content.startswith(GZIP_MAGIC) else content).decode()
