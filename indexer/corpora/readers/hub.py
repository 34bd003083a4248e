"""Corpora on the Hugging Face hub: `hub:OWNER/NAME/FOLDER`. Requires the optional extra `hub`.

Such a path opens a connection, through the library `datasets`, which is only imported here.

Each row is converted to a JSON line, and read like a line of a file. JSON lines are fetched as text, because
the library's JSON reader guesses a type for each key (it changes dates) and rejects the whole file for one
line that does not fit.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count, islice
from typing import Any

from base.errors import LibraryMissing, ResourceError, UnknownPath
from base.extras import extra_remedy
from indexer.corpora.readers.items import Item, admitted, dead_letter
from indexer.corpora.readers.jsonl import NoRecord, Renaming, parse_record
from indexer.corpora.readers.lines import BYTE_ORDER_MARK

PREFIX = "hub:"
ADDRESS = "hf://datasets"
PARTS = 3
EXAMINED_LINES = 1000


def _as_line(row: Mapping[str, Any]) -> bytes:
    present = {key: value for key, value in row.items() if value is not None}
    return json.dumps(present, ensure_ascii=False, default=str).encode()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: the library's loader, and the conversion of a row to a JSON line."""

    loader: str
    line: Callable[[Mapping[str, Any]], bytes] = _as_line
    options: Mapping[str, str] = field(default_factory=dict)


# By patterns in file names; of a folder, the first kind with files is read.
KINDS: dict[str, Kind] = {
    ".jsonl": Kind(
        "text",
        lambda row: str(row["text"]).encode().removeprefix(BYTE_ORDER_MARK),
        {"encoding_errors": "backslashreplace"},
    ),
    ".parquet": Kind("parquet"),
    ".arrow": Kind("arrow"),
}


def place_of(path: str) -> str:
    """Return the address of a path `hub:OWNER/NAME/FOLDER`; raise UnknownPath if it has another form."""
    parts = path.removeprefix(PREFIX).strip("/").split("/")
    if len(parts) < PARTS or not all(parts):
        raise UnknownPath(
            f"{path}: a corpus on the hub is named hub:OWNER/NAME/FOLDER, "
            "for example hub:miracl/miracl-corpus/miracl-corpus-v1.0-ko"
        )
    return f"{ADDRESS}/{'/'.join(parts)}"


def lines_of(path: str, place: str) -> Iterator[bytes]:
    """Stream the rows of a folder or file as JSON lines, in the order of file names.

    Empty columns of Parquet or Arrow rows are omitted; dates and similar values are written as text. Raises
    `LibraryMissing` if the library is not installed, `UnknownPath` if there is no row.
    """
    try:
        from datasets import config, load_dataset
        from fsspec.core import url_to_fs
    except ImportError:
        raise LibraryMissing(
            f"{path}: reading from the hub needs the library `datasets`",
            remedy=extra_remedy("hub"),
        ) from None
    config.HF_UPDATE_DOWNLOAD_COUNTS = False  # avoids requests to other addresses
    try:
        system, _ = url_to_fs(place)
        kind, files = next(filter(lambda found: system.glob(found[1]), _patterns_of(place)))
        rows = iter(
            load_dataset(kind.loader, data_files=files, split="train", streaming=True, **kind.options)
        )
        first = next(rows)
    except StopIteration:
        raise UnknownPath(
            f"{path}: nothing to read at {place}: there are no rows in {', '.join(KINDS)} files"
        ) from None
    except Exception as error:  # the library and its network layers have no common error
        raise UnknownPath(f"{path}: nothing to read at {place}: {_first_line(error)}") from error
    yield from map(kind.line, chain([first], rows))


def first_record(path: str, place: str) -> Mapping[str, Any]:
    """Return the first record of the rows, an empty one if none of the first 1,000 rows is a record."""
    for line in islice(lines_of(path, place), EXAMINED_LINES):
        try:
            return parse_record(line)
        except NoRecord:
            continue
    return {}


def read_rows(path: str, place: str, renamed: Renaming) -> Iterator[Item]:
    """Read one record per row, with its keys `renamed`; an interrupted stream is a dead letter."""
    lines = lines_of(path, place)
    for number in count(1):
        try:
            line = next(lines, None)
        except ResourceError:
            raise
        except Exception as error:  # noqa: BLE001  (as above; earlier rows are kept)
            yield dead_letter(path, number, f"the stream ends early here: {_first_line(error)}")
            return
        if line is None:
            return
        if line.strip():
            yield _item(path, number, line, renamed)


def _item(path: str, number: int, line: bytes, renamed: Renaming) -> Item:
    try:
        return admitted(renamed(parse_record(line)), path, number, line)
    except NoRecord as error:
        return dead_letter(path, number, str(error), line)


def _patterns_of(place: str) -> list[tuple[Kind, str]]:
    """Return the file name patterns of each possible kind at the place."""
    last = place.rpartition("/")[2]
    named = [(kind, place) for ending, kind in KINDS.items() if ending in last]
    return named or [(kind, f"{place}/*{ending}*") for ending, kind in KINDS.items()]


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
