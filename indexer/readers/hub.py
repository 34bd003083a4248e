"""Corpora of the Hugging Face hub, named `hub:OWNER/NAME/FOLDER`. Needs the optional extra `hub`.

Only a path of this form opens a connection, through the library `datasets`, which is imported here only.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import Any

from indexer.errors import IndexerError, LibraryMissing, UnknownPath
from indexer.readers.items import Item, admitted, dead_letter
from indexer.readers.jsonl import Renaming

PREFIX = "hub:"
PARTS = 3


def data_files_of(path: str) -> str:
    """Return the pattern of the files that `hub:OWNER/NAME/FOLDER` stands for. Raises `UnknownPath`."""
    parts = path.removeprefix(PREFIX).strip("/").split("/")
    if len(parts) < PARTS or not all(parts):
        raise UnknownPath(
            f"{path}: a corpus on the hub is named hub:OWNER/NAME/FOLDER, "
            "for example hub:miracl/miracl-corpus/miracl-corpus-v1.0-ko"
        )
    place = f"hf://datasets/{'/'.join(parts)}"
    return place if ".jsonl" in parts[-1] else f"{place}/*.jsonl*"


def rows_of(path: str, data_files: str) -> Iterator[Mapping[str, Any]]:
    """Stream the JSON lines that the pattern `data_files` finds; keys that a row does not have are left out.

    Raises `LibraryMissing` where the library is missing, `UnknownPath` where there is no first row.
    """
    try:
        from datasets import load_dataset
    except ImportError:
        raise LibraryMissing(
            f"{path}: reading from the hub needs the extra `hub`",
            remedy="install it: pip install -e '.[hub]'",
        ) from None
    try:
        rows = iter(load_dataset("json", data_files=data_files, split="train", streaming=True))
        first = next(rows)
    except Exception as error:  # the library and its network layers have no common error
        raise UnknownPath(f"{path}: nothing to read at {data_files}: {_first_line(error)}") from error
    for row in chain([first], rows):
        yield {key: value for key, value in row.items() if value is not None}


def read_rows(path: str, data_files: str, renamed: Renaming) -> Iterator[Item]:
    """Read a record a row, each with its keys `renamed`; where the stream breaks off is a dead letter."""
    rows = rows_of(path, data_files)
    for number in count(1):
        try:
            row = next(rows, None)
        except IndexerError:
            raise
        except Exception as error:  # noqa: BLE001  (as above; the rows that came are kept)
            yield dead_letter(path, number, f"the stream breaks off here: {_first_line(error)}")
            return
        if row is None:
            return
        yield admitted(renamed(row), path, number, repr(row).encode("utf-8", "backslashreplace"))


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
