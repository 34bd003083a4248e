"""Records of searches as files: JSON to repeat a search, Markdown to read."""

from collections.abc import Callable
from pathlib import Path

from base.errors import InvalidCall, UnknownPath
from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.terminal.output import json_text
from base.untrusted import read_json
from indexer.corpora.papers import language_of
from retriever.records.markdown import as_markdown
from retriever.records.record import SearchRecord

MOST_BYTES = 16_000_000  # of a record; one with 1,000 hits has about 200,000


def as_json(search: SearchRecord) -> str:
    """Return the record as JSON."""
    return json_text(search.record, indent=1) + "\n"


def as_report(search: SearchRecord) -> str:
    """Return the record as Markdown, with headings in the language of the question."""
    language = language_of(search.record["request"]["question"])
    return as_markdown(search, "ko" if language == "ko" else "en")


FORMS: dict[str, Callable[[SearchRecord], str]] = {".json": as_json, ".md": as_report}


def form_of(path: Path) -> Callable[[SearchRecord], str]:
    """Return the writer for a file's ending; InvalidCall if there is none."""
    if form := FORMS.get(path.suffix.lower()):
        return form
    raise InvalidCall(f"a record of a search is a file {' or '.join(FORMS)}, not {path.name!r}")


def save(search: SearchRecord, path: Path) -> None:
    """Write a record in the format of the file's ending; OutputNotWritten if that fails."""
    write_output(path, form_of(path)(search).encode())


def load(path: Path) -> SearchRecord:
    """Read a record that was saved as JSON.

    Raises:
        UnknownPath: no such file.
        InvalidCall: it cannot be read, or contains no complete record of a valid search.
    """
    try:
        record = read_json(read_regular(path, MOST_BYTES))
    except FileNotFoundError:
        raise UnknownPath(f"there is no file {path}") from None
    except OSError as error:
        raise InvalidCall(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InvalidCall(f"{path} is not JSON: {error}") from None
    return SearchRecord.checked(record, str(path))
