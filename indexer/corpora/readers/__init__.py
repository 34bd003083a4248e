"""Corpus readers: `read_corpus` reads files, folders and archives of all formats as a stream of papers."""

from collections import Counter
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path

from base.errors import LibraryMissing, Remedy
from indexer.corpora.full_text.parsing import Complete
from indexer.corpora.papers import Unit
from indexer.corpora.readers.csv import header_of, parse_columns
from indexer.corpora.readers.documents import check_pdf_library, read_pdfs
from indexer.corpora.readers.files import (
    ENDINGS,
    ENDINGS_OF_FORMAT,
    PARQUET_ENDINGS,
    CorpusFile,
    LeftOut,
    ending_of,
    files_at,
)
from indexer.corpora.readers.formats import FORMATS, OWN_FORMAT, PASSAGE_FORMATS, read_items, recognise
from indexer.corpora.readers.hub import on_hub
from indexer.corpora.readers.items import DeadLetter, Item
from indexer.corpora.readers.parquet import check_parquet_library
from indexer.corpora.readers.streams import Progress, open_streams
from indexer.errors import UnknownFormat

__all__ = ["FORMATS", "Corpus", "DeadLetter", "Item", "LeftOut", "parse_columns", "read_corpus"]


class Corpus:
    """Corpus files with their formats. Each iteration reads them from the beginning."""

    def __init__(
        self,
        files: Sequence[CorpusFile],
        left_out: LeftOut,
        columns: Mapping[str, str] | None = None,
        workers: int = 1,
        complete: Complete | None = None,
    ) -> None:
        self.files = list(dict.fromkeys(file.path for file in files))
        self.sources = [name for name in self.files if not on_hub(name)]
        self.formats = Counter(file.format for file in files if not file.problem)
        self.left_out = left_out
        self.skipped: frozenset[str] = frozenset()  # paths of files that are not read
        self._files = files
        self._columns, self._workers, self._complete = columns, workers, complete
        self._progress = Progress()

    def skip(self, names: Collection[str]) -> None:
        """Leave out some files in further iterations."""
        self.skipped = frozenset(names)

    @property
    def total_bytes(self) -> int:
        """The bytes to read, in compressed form for archives."""
        return sum(file.size for file in self._files if file.path not in self.skipped and not file.problem)

    @property
    def bytes_read(self) -> int:
        """The bytes read by the last iteration, in compressed form for archives."""
        return self._progress.bytes

    @property
    def format(self) -> str:
        """The formats of the files, joined by commas."""
        return ", ".join(sorted(self.formats)) or OWN_FORMAT

    @property
    def unit(self) -> Unit:
        """The kind of a record: a passage of an article, or a paper."""
        return "passage" if self.formats.keys() & PASSAGE_FORMATS else "paper"

    def __iter__(self) -> Generator[Item, None, None]:
        self._progress = Progress()
        wanted = [file for file in self._files if file.path not in self.skipped]
        for format_, files in groupby(wanted, key=lambda file: file.format):
            streams = (stream for _, stream in open_streams(files, self._progress))
            if format_ == "pdf":
                with closing(read_pdfs(streams, self._workers, self._complete)) as items:
                    yield from items
            else:
                columns = self._columns if format_ == "csv" else None
                yield from chain.from_iterable(read_items(stream, format_, columns) for stream in streams)


def read_corpus(
    paths: Sequence[str | Path],
    *,
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | None = None,
    workers: int = 1,
    follow_links: bool = False,
    complete: Complete | None = None,
) -> Corpus:
    """Find the files of a corpus, and detect their formats by their first records unless one is given.

    Paths are read in the given order, folders in sorted order, records before documents. Folders and zip
    archives are filtered by file endings. Links out of a folder are followed only with `follow_links`.
    `columns` maps fields of Paper to columns of tables, `workers` is the number of processes for PDFs;
    `complete` replaces the record of a PDF, given its bytes.

    Raises:
        UnknownPath: a path does not exist, or is empty.
        UnknownFormat: unknown format, format not recognised, a mix of passages and papers, or `columns`
            that do not fit.
        LibraryMissing: the corpus has PDFs or Parquet files, whose library is not installed.
    """
    if format is not None and format not in FORMATS:
        raise UnknownFormat(f"unknown format {format!r}. The formats are {', '.join(FORMATS)}.")
    endings = ENDINGS if format is None else ENDINGS_OF_FORMAT[format]
    left_out = LeftOut()
    found = [
        file for path in paths for file in files_at(str(path), endings, left_out, follow_links=follow_links)
    ]
    if any(ending_of(file.name) in PARQUET_ENDINGS for file in found):
        check_parquet_library()
    files = recognise(found) if format is None else [replace(file, format=format) for file in found]
    corpus = Corpus(files, left_out, columns, workers, complete)
    if "pdf" in corpus.formats:
        try:
            check_pdf_library()
        except LibraryMissing as error:
            error.remedies += (Remedy.NAME_FORMAT,) if len(corpus.formats) > 1 else ()
            raise
    if columns:
        _check_columns(corpus, files, columns)
    return corpus


def _check_columns(corpus: Corpus, files: Sequence[CorpusFile], columns: Mapping[str, str]) -> None:
    if "csv" not in corpus.formats:
        raise UnknownFormat(f"column names are given, but this corpus is {corpus.format}, not csv")
    tables = (file for file in files if file.format == "csv")
    for file, stream in open_streams(tables, Progress()):
        header = [] if stream.refused else [name.strip() for name in header_of(stream)]
        missing = [column for column in columns.values() if column not in header]
        if header and missing:
            raise UnknownFormat(
                f"{file.name} has no column {missing[0]!r}. Its columns are {', '.join(header)[:500]}."
            )
