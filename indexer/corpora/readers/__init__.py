"""Corpus readers: `read_corpus` reads files, folders and archives of all formats as a stream of papers."""

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from base.errors import LibraryMissing, Remedy
from indexer.corpora.full_text.parsing import Complete
from indexer.corpora.papers import Unit
from indexer.corpora.readers import arxiv, beir, crossref, hub, miracl, openalex, scienceon
from indexer.corpora.readers.arxiv import read_arxiv
from indexer.corpora.readers.beir import read_beir
from indexer.corpora.readers.bibtex import read_bibtex
from indexer.corpora.readers.copies import copies_by_letter, naming_copies, or_copy
from indexer.corpora.readers.corpus_files import CorpusFile, LeftOut, files_at, on_hub, recognise, streams_in
from indexer.corpora.readers.crossref import read_crossref
from indexer.corpora.readers.csl_json import read_csl_json
from indexer.corpora.readers.csv import header_of, parse_columns, read_csv
from indexer.corpora.readers.detection import OWN_FORMAT, PASSAGE_FORMATS
from indexer.corpora.readers.dublin_core import read_dublin_core
from indexer.corpora.readers.endnote import read_endnote
from indexer.corpora.readers.folders import ENDINGS, ENDINGS_OF_FORMAT, PARQUET_ENDINGS, ending_of
from indexer.corpora.readers.items import DeadLetter, Item, dead_letter, name_in_letters
from indexer.corpora.readers.jats import read_jats
from indexer.corpora.readers.jsonl import Renaming, read_jsonl
from indexer.corpora.readers.marcxml import read_marcxml
from indexer.corpora.readers.markdown import read_markdown
from indexer.corpora.readers.miracl import read_miracl
from indexer.corpora.readers.openalex import read_openalex
from indexer.corpora.readers.parquet import check_parquet_library
from indexer.corpora.readers.pdf import check_pdf_library, read_pdfs
from indexer.corpora.readers.pubmed import read_pubmed
from indexer.corpora.readers.ris import read_ris
from indexer.corpora.readers.scienceon import read_scienceon
from indexer.corpora.readers.streams import CountedFile, Stream, why_not_opened
from indexer.corpora.readers.text import read_text
from indexer.errors import UnknownFormat

__all__ = ["FORMATS", "READERS", "Corpus", "DeadLetter", "Item", "LeftOut", "parse_columns", "read_corpus"]

Reader: TypeAlias = Callable[[Stream], Iterator[Item]]

READERS: dict[str, Reader] = {
    "miracl": read_miracl,
    "beir": read_beir,
    "scienceon": read_scienceon,
    "csl-json": read_csl_json,
    "jsonl": read_jsonl,
    "csv": read_csv,
    "ris": read_ris,
    "bibtex": read_bibtex,
    "endnote": read_endnote,
    "crossref": read_crossref,
    "openalex": read_openalex,
    "arxiv": read_arxiv,
    "pubmed": read_pubmed,
    "dublin-core": read_dublin_core,
    "marcxml": read_marcxml,
    "jats": read_jats,
    "markdown": read_markdown,
    "text": read_text,
}
FORMATS = (*READERS, "pdf")  # PDFs are parsed concurrently, not by a stream reader
# Formats with one paper per file.
DOCUMENT_FORMATS = frozenset({"pdf", "markdown", "text"})
# Formats of rows on the hub.
RENAMINGS: dict[str, Renaming] = {
    "miracl": miracl.named_as_paper,
    "beir": beir.named_as_paper,
    "scienceon": scienceon.named_as_paper,
    "jsonl": lambda record: record,
    "crossref": crossref.named_as_paper,
    "openalex": openalex.named_as_paper,
    "arxiv": arxiv.named_as_paper,
}


class Corpus:
    """Corpus files with their formats. Each iteration reads them from the beginning."""

    def __init__(
        self,
        files: Sequence[CorpusFile],
        left_out: LeftOut,
        columns: Mapping[str, str] | None,
        workers: int,
        complete: Complete | None = None,
    ) -> None:
        self.files = list(dict.fromkeys(name for file in files for name in (file.name, *file.copies)))
        self.formats = Counter(chain.from_iterable(map(_formats_read, files)))
        self.left_out = left_out
        self.total_bytes = 0 if any(on_hub(file.name) for file in files) else sum(file.size for file in files)
        self._files = files
        self.skipped: frozenset[str] = frozenset()  # names of files that are not read
        self._columns = columns
        self._workers = workers
        self._complete = complete
        self._copies = copies_by_letter(files)
        self._member_copies: dict[str, tuple[str, ...]] = {}  # copies in archives, collected while reading
        self._finished_bytes = 0
        self._open: CountedFile | None = None
        self._open_size = 0

    @property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """The files in their order, each with the copies of its paper; none if the corpus is on the hub."""
        if any(on_hub(file.name) for file in self._files):
            return {}
        return {file.name: file.copies for file in self._files}

    def skip(self, names: Collection[str]) -> None:
        """Leave out some files in further iterations."""
        self.skipped = frozenset(names)
        read = [file for file in self._files if file.name not in self.skipped]
        self.total_bytes = 0 if any(on_hub(file.name) for file in read) else sum(file.size for file in read)

    @property
    def format(self) -> str:
        """The formats of the files, joined by commas."""
        return ", ".join(sorted(self.formats)) or OWN_FORMAT

    @property
    def unit(self) -> Unit:
        """The kind of a record: a passage of an article, or a paper."""
        return "passage" if self.formats.keys() & PASSAGE_FORMATS else "paper"

    @property
    def bytes_read(self) -> int:
        """The bytes read from disk by the last iteration, in compressed form for archives."""
        return self._finished_bytes + (min(self._open.consumed, self._open_size) if self._open else 0)

    def __iter__(self) -> Generator[Item, None, None]:
        self._finished_bytes, self._open = 0, None
        with closing(self._streams()) as streams:
            for format_, group in groupby(streams, key=itemgetter(0)):
                for item in self._read(format_, (stream for _, stream in group)):
                    yield from or_copy(naming_copies(item, self._member_copies), self._copies)

    def _read(self, format_: str, streams: Iterable[Stream | DeadLetter | CorpusFile]) -> Iterator[Item]:
        if format_ == "pdf":
            yield from read_pdfs(
                (stream for stream in streams if not isinstance(stream, CorpusFile)),
                self._workers,
                self._complete,
            )
            return
        read = partial(read_csv, columns=self._columns) if format_ == "csv" else READERS[format_]
        for stream in streams:
            if isinstance(stream, DeadLetter):
                yield stream
            elif isinstance(stream, CorpusFile):
                yield from hub.read_rows(stream.name, hub.place_of(stream.name), RENAMINGS[format_])
            else:
                yield from read(stream)

    def _streams(self) -> Generator[tuple[str, Stream | DeadLetter | CorpusFile], None, None]:
        """Yield (format, stream or file of the hub); a stream is closed when the next one is requested."""
        for file in self._files:
            if file.name in self.skipped:
                continue
            for stream in [file] if on_hub(file.name) else self._streams_of(file):
                if isinstance(stream, Stream) and stream.copies:
                    self._member_copies[name_in_letters(stream.name)] = stream.copies
                yield file.format, stream

    def _streams_of(self, file: CorpusFile) -> Iterator[Stream | DeadLetter]:
        is_empty = file.format in DOCUMENT_FORMATS and file.size == 0
        if problem := file.problem or ("the file is empty" if is_empty else ""):
            yield dead_letter(file.name, 0, problem)
            return
        try:
            opened = CountedFile(file.name)
        except OSError as error:
            yield why_not_opened(file.name, error)
            return
        with opened:
            self._open, self._open_size = opened, file.size
            yield from file.streams(opened)
            self._open = None
            self._finished_bytes += file.size


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
    at_paths = [files_at(str(path), endings, follow_links=follow_links) for path in paths]
    found = [file for files_found, _ in at_paths for file in files_found]
    if any(ending_of(file.name) in PARQUET_ENDINGS for file in found):
        check_parquet_library()
    files = (
        recognise(found)
        if format is None
        else [replace(file, format=format, endings=endings) for file in found]
    )
    corpus = Corpus(files, LeftOut.joined([left_out for _, left_out in at_paths]), columns, workers, complete)
    tables = [file for file in files if file.format == "csv"]
    if columns and not tables:
        raise UnknownFormat(f"column names are given, but this corpus is {corpus.format}, not csv")
    for file in files:
        if on_hub(file.name) and file.format not in RENAMINGS:
            raise UnknownFormat(f"only rows of records are read from the hub, not {file.format}.")
    if "pdf" in corpus.formats:
        try:
            check_pdf_library()
        except LibraryMissing as error:
            error.remedies += (Remedy.NAME_FORMAT,) if len(corpus.formats) > 1 else ()
            raise
    if columns:
        _check_columns(tables, columns)
    return corpus


def _formats_read(file: CorpusFile) -> list[str]:
    """Return the formats of the file's streams, or of a file without content."""
    if file.problem or (file.problems and not file.formats):
        return []
    return [format_ for format_ in file.formats.values() if format_ == file.format] or [file.format]


def _check_columns(files: Sequence[CorpusFile], columns: Mapping[str, str]) -> None:
    for file in files:
        for stream in streams_in(file):
            header = [name.strip() for name in header_of(stream)]
            missing = [column for column in columns.values() if column not in header]
            if header and missing:
                raise UnknownFormat(
                    f"{stream.name} has no column {missing[0]!r}. Its columns are {', '.join(header)[:500]}."
                )
