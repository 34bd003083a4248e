"""Corpora in: `read_corpus` reads files, folders and archives of any known format as a stream of papers."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from indexer.errors import Remedy, UnknownFormat, UnknownPath
from indexer.full_text.parser_pool import Complete
from indexer.papers import Unit
from indexer.readers import beir, hub, miracl, scienceon
from indexer.readers.beir import read_beir
from indexer.readers.csv import header_of, parse_columns, read_csv
from indexer.readers.detection import OWN_FORMAT, format_of, format_of_record
from indexer.readers.folders import ENDINGS_OF_FORMAT, corpus_names, files_below, is_archive
from indexer.readers.items import DeadLetter, Item, dead_letter
from indexer.readers.jsonl import Renaming, read_jsonl
from indexer.readers.markdown import read_markdown
from indexer.readers.miracl import read_miracl
from indexer.readers.pdf import check_pdf_library, read_pdfs
from indexer.readers.scienceon import read_scienceon
from indexer.readers.streams import CountedFile, Stream, open_streams, why_not_opened
from indexer.readers.text import read_text

__all__ = ["FORMATS", "READERS", "Corpus", "DeadLetter", "Item", "parse_columns", "read_corpus"]

Reader: TypeAlias = Callable[[Stream], Iterator[Item]]

READERS: dict[str, Reader] = {
    "miracl": read_miracl,
    "beir": read_beir,
    "scienceon": read_scienceon,
    "jsonl": read_jsonl,
    "csv": read_csv,
    "markdown": read_markdown,
    "text": read_text,
}
FORMATS = (*READERS, "pdf")  # several PDFs are read at once, not one reader's stream
# A file is a paper.
DOCUMENT_FORMATS = frozenset({"pdf", "markdown", "text"})
PASSAGE_FORMATS = frozenset({"miracl", "beir"})
# The formats that rows of the hub may have.
RENAMINGS: dict[str, Renaming] = {
    "miracl": miracl.named_as_paper,
    "beir": beir.named_as_paper,
    "scienceon": scienceon.named_as_paper,
    "jsonl": lambda record: record,
}


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    size: int = 0
    problem: str = ""
    root: str = ""  # the folder or archive of the corpus that it is, or lies in


class Corpus:
    """Files to be read in one format. Iterating reads them from the beginning, each time the same items."""

    def __init__(
        self,
        files: Sequence[_File],
        format: str,  # noqa: A002
        endings: frozenset[str],
        columns: Mapping[str, str] | None,
        workers: int,
        complete: Complete | None,
    ) -> None:
        self.format = format
        self.files = [file.name for file in files]
        self.total_bytes = (
            0 if any(_on_hub(file.name) for file in files) else sum(file.size for file in files)
        )
        self._files = files
        self._endings = endings
        self._columns = columns
        self._workers = workers
        self._complete = complete
        self._finished_bytes = 0
        self._open: CountedFile | None = None
        self._open_size = 0

    @property
    def unit(self) -> Unit:
        """What a record is: a passage of an article, or a paper."""
        return "passage" if self.format in PASSAGE_FORMATS else "paper"

    @property
    def bytes_read(self) -> int:
        """The bytes read from disk so far, packed ones as packed; of the last iteration begun."""
        return self._finished_bytes + (min(self._open.consumed, self._open_size) if self._open else 0)

    def __iter__(self) -> Generator[Item, None, None]:
        self._finished_bytes, self._open = 0, None
        if self.format == "pdf":
            yield from read_pdfs(
                (stream for file in self._files for stream in self._streams_of(file)),
                self._workers,
                self._complete,
            )
            return
        read = partial(read_csv, columns=self._columns) if self.format == "csv" else READERS[self.format]
        for file in self._files:
            if _on_hub(file.name):
                yield from hub.read_rows(file.name, hub.place_of(file.name), RENAMINGS[self.format])
                continue
            for stream in self._streams_of(file):
                if isinstance(stream, DeadLetter):
                    yield stream
                else:
                    yield from read(stream)

    def _streams_of(self, file: _File) -> Iterator[Stream | DeadLetter]:
        problem = file.problem or ("the file is empty" if self._is_empty_document(file) else "")
        if problem:
            yield dead_letter(file.name, 0, problem)
            return
        try:
            opened = CountedFile(file.name)
        except OSError as error:
            yield why_not_opened(file.name, error)
            return
        with opened:
            self._open, self._open_size = opened, file.size
            yield from open_streams(opened, file.name, self._endings, root=file.root)
            self._open = None
            self._finished_bytes += file.size

    def _is_empty_document(self, file: _File) -> bool:
        return self.format in DOCUMENT_FORMATS and file.size == 0


def read_corpus(
    paths: Sequence[str | Path],
    *,
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | None = None,
    workers: int = 1,
    complete: Complete | None = None,
) -> Corpus:
    """Find the files of a corpus and tell their format by their first records, unless it is given.

    Paths are read in the order given, folders in sorted order; of folders and zip archives only files that
    end like a corpus of the format. `columns` maps fields of Paper to columns of a table; PDFs are read by
    so many `workers`, and `complete` makes the record of a PDF and what was read of it.

    Raises:
        UnknownPath: a path that does not exist.
        UnknownFormat: no such format, none that can be recognised, several at once, or `columns` that do
            not fit.
        LibraryMissing: PDFs, and what reads them is not installed.
    """
    if format is not None and format not in FORMATS:
        raise UnknownFormat(f"no format is called {format!r}. There are {', '.join(FORMATS)}.")
    endings = None if format is None else ENDINGS_OF_FORMAT[format]
    files = [file for path in paths for file in _files_at(str(path), endings)]
    if format is None:
        format = _common_format(files)  # noqa: A001
    if columns and format != "csv":
        raise UnknownFormat(f"columns of a table are named, and this corpus is {format}, not csv")
    if format not in RENAMINGS and any(_on_hub(file.name) for file in files):
        raise UnknownFormat(f"from the hub rows of records are read: not {format}.")
    if format == "pdf":
        check_pdf_library()
    if columns:
        _check_columns(files, columns)
    return Corpus(files, format, ENDINGS_OF_FORMAT[format], columns, workers, complete)


def _on_hub(name: str) -> bool:
    return name.startswith(hub.PREFIX)


def _files_at(path: str, endings: frozenset[str] | None) -> list[_File]:
    if _on_hub(path):
        hub.place_of(path)
        return [_File(path)]
    place = Path(path)
    if place.is_file():
        return [_File(path, place.stat().st_size, root=path if is_archive(path) else str(place.parent))]
    if not place.is_dir():
        there = "it is neither a file nor a folder" if place.exists() else "there is no such file or folder"
        raise UnknownPath(f"{path}: {there}.")
    problems = dict(files_below(place))
    unreadable = [_File(str(place / name), 0, problem) for name, problem in problems.items() if problem]
    names = corpus_names((name for name, problem in problems.items() if not problem), endings)
    return unreadable + [
        _File(str(place / name), (place / name).stat().st_size, root=str(place)) for name in names
    ]


def _common_format(files: Sequence[_File]) -> str:
    """Return the one format that all files have. Raises `UnknownFormat` if they have several."""
    first_of: dict[str, str] = {}
    for file in files:
        for name, found in _formats_in(file):
            first_of.setdefault(found, name)
        if len(first_of) > 1:
            (one, one_file), (other, other_file) = list(first_of.items())[:2]
            raise UnknownFormat(
                f"{one_file} is {one}, {other_file} is {other}. An index has one format",
                remedy=("name the files of one", Remedy.NAME_FORMAT),
            )
    return next(iter(first_of), OWN_FORMAT)


def _formats_in(file: _File) -> Iterator[tuple[str, str]]:
    """Yield (file, format) of what a file holds and can be recognised; a damaged one is told when read."""
    if file.problem:
        return
    if _on_hub(file.name):
        yield file.name, format_of_record(hub.first_record(file.name, hub.place_of(file.name)))
        return
    for stream in _streams_in(file):
        if found := format_of(stream):
            yield stream.name, found


def _streams_in(file: _File) -> Iterator[Stream]:
    try:
        opened = CountedFile(file.name)
    except OSError:
        return
    with opened:
        for stream in open_streams(opened, file.name, None):
            if isinstance(stream, Stream):
                yield stream


def _check_columns(files: Sequence[_File], columns: Mapping[str, str]) -> None:
    for file in files:
        for stream in _streams_in(file):
            header = [name.strip() for name in header_of(stream)]
            missing = [column for column in columns.values() if column not in header]
            if header and missing:
                raise UnknownFormat(
                    f"{stream.name} has no column {missing[0]!r}. Its columns are {', '.join(header)[:500]}."
                )
