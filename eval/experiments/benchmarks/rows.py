"""Rows of a benchmark's files, checked by a model: JSON lines, optionally gzipped, or Parquet."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from base.calls import reason
from base.errors import LibraryMissing
from base.extras import extra_remedy
from base.files.regular_files import open_regular
from eval.errors import BadBenchmark
from eval.files import Digest, numbered_lines
from indexer.corpora.readers.jsonl import DECODER

R = TypeVar("R", bound=BaseModel)

PARQUET = ".parquet"
BATCH = 100  # rows of a Parquet file in memory; a row may contain a full text


def rows_of(path: Path, row: type[R], digest: Digest | None = None) -> Iterator[tuple[str, R]]:
    """Yield (place, row) for each row of a file; other columns are ignored. A place is `FILE:LINE`.

    `digest` hashes the bytes of JSON lines.

    Raises:
        BadBenchmark: with file and line; not JSON, a missing field, or a wrong type.
        LibraryMissing: for Parquet, without pyarrow.
    """
    given = _parquet_rows(path, row) if path.suffix == PARQUET else _json_rows(path, digest)
    for number, values in given:
        where = f"{path}:{number}"
        try:
            yield where, row.model_validate(values)
        except ValidationError as error:
            raise BadBenchmark(f"{where}: {reason(error)}") from None


def _json_rows(path: Path, digest: Digest | None) -> Iterator[tuple[int, Any]]:
    for number, line in numbered_lines(path, BadBenchmark, digest):
        try:
            yield number, DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            raise BadBenchmark(f"{path}:{number}: not JSON ({error})") from None


def _parquet_rows(path: Path, row: type[BaseModel]) -> Iterator[tuple[int, Any]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise LibraryMissing(
            f"{path}: reading Parquet needs the library pyarrow",
            remedy=extra_remedy("hub"),
        ) from None
    try:
        with open_regular(path) as opened, ParquetFile(opened) as file:
            columns = [name for name in row.model_fields if name in file.schema_arrow.names]
            batches: Iterable[Any] = file.iter_batches(BATCH, columns=columns)
            rows = (values for batch in batches for values in batch.to_pylist())
            yield from enumerate(rows, 1)
    except (ArrowException, OSError) as error:
        raise BadBenchmark(f"{path} cannot be read as Parquet: {error}") from None
