"""The formats of documents, by the names of the API and by the endings of files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from base.documents.blocks import Document
from base.documents.markdown import as_markdown
from base.documents.plain_text import as_text
from base.documents.word import MEDIA_TYPE, as_word
from base.errors import InvalidCall


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """A format: its media type, the ending of its files, and the function that writes a document."""

    media_type: str
    extension: str
    encoded: Callable[[Document], bytes]


DOCUMENT_FORMATS = {
    "text": DocumentFormat("text/plain; charset=utf-8", ".txt", lambda document: as_text(document).encode()),
    "markdown": DocumentFormat(
        "text/markdown; charset=utf-8", ".md", lambda document: as_markdown(document).encode()
    ),
    "docx": DocumentFormat(MEDIA_TYPE, ".docx", as_word),
}


def format_of(path: Path) -> DocumentFormat:
    """Return the format by a file's ending; InvalidCall, with all endings, if there is none."""
    by_ending = {each.extension: each for each in DOCUMENT_FORMATS.values()}
    if found := by_ending.get(path.suffix.lower()):
        return found
    raise InvalidCall(f"a document is a file {', '.join(by_ending)}, not {path.name!r}")
