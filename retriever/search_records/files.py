"""Records of searches as files: JSON to repeat a search, Markdown and Word to read."""

from collections.abc import Callable
from pathlib import Path

from base.documents.formats import DOCUMENT_FORMATS
from base.errors import InvalidCall, UnknownPath
from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.terminal.output import json_text
from base.untrusted import read_json
from retriever.search_records.record import SearchRecord
from retriever.search_records.report import report_of

MOST_BYTES = 16_000_000  # of a record; one with 1,000 hits has about 200,000


def as_json(search: SearchRecord) -> bytes:
    """Return the record as JSON."""
    return (json_text(search.record, indent=1) + "\n").encode()


def as_report(form: str) -> Callable[[SearchRecord], bytes]:
    """Return the function that writes a record as a document, in the language of the question."""
    return lambda search: DOCUMENT_FORMATS[form].encoded(report_of(search))


FORMS: dict[str, Callable[[SearchRecord], bytes]] = {
    ".json": as_json,
    ".md": as_report("markdown"),
    ".docx": as_report("docx"),
}


def form_of(path: Path) -> Callable[[SearchRecord], bytes]:
    """Return the writer for a file's ending; InvalidCall if there is none."""
    if form := FORMS.get(path.suffix.lower()):
        return form
    raise InvalidCall(f"a record of a search is a file {', '.join(FORMS)}, not {path.name!r}")


def save(search: SearchRecord, path: Path) -> None:
    """Write a record in the format of the file's ending; OutputNotWritten if that fails."""
    write_output(path, form_of(path)(search))


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
