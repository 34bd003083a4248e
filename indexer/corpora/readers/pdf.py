"""PDF: one paper per file, parsed concurrently in processes (`indexer/corpora/full_text/`)."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from base.errors import LibraryMissing
from base.extras import extra_remedy
from indexer.corpora.full_text.parsing import Complete, ParserPool
from indexer.corpora.readers.documents import NoDocument, document_id, read_whole
from indexer.corpora.readers.items import DeadLetter, Item, admitted, dead_letter
from indexer.corpora.readers.streams import Stream

PDF_BYTES = 256 << 20


def check_pdf_library() -> None:
    """Raise `LibraryMissing` if the PDF library is not installed."""
    if find_spec("pypdfium2") is None:
        raise LibraryMissing(
            "reading PDFs requires the library pypdfium2, which is not installed",
            remedy=extra_remedy("pdf"),
        )


def read_pdfs(
    streams: Iterable[Stream | DeadLetter], workers: int, complete: Complete | None = None
) -> Iterator[Item]:
    """Yield a paper or a dead letter for each file, in order."""
    with ParserPool(workers, complete=complete) as pool:
        for file, parsed in pool.parse_in_order(_documents(streams)):
            if isinstance(file, DeadLetter):
                yield file
            elif parsed is None or "record" not in parsed:
                yield dead_letter(file.name, 0, parsed["problem"] if parsed else "")
            else:
                yield admitted({"id": document_id(file)} | parsed["record"], file.name, 0, b"%PDF-")


def _documents(
    streams: Iterable[Stream | DeadLetter],
) -> Iterator[tuple[Stream | DeadLetter, bytes | None]]:
    for stream in streams:
        if isinstance(stream, DeadLetter):
            yield stream, None
            continue
        try:
            yield stream, read_whole(stream, PDF_BYTES)
        except NoDocument as error:
            yield dead_letter(stream.name, 0, str(error)), None
