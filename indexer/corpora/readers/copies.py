"""Copies of a paper (a.txt next to a.pdf): a copy is read if the paper's better file is refused.

The OCR text of a scanned PDF is often stored next to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from indexer.corpora.papers import Paper
from indexer.corpora.readers.corpus_files import CorpusFile, streams_in
from indexer.corpora.readers.detection import format_of
from indexer.corpora.readers.items import DeadLetter, Item, name_in_letters
from indexer.corpora.readers.markdown import read_markdown
from indexer.corpora.readers.text import read_text

READERS = {"markdown": read_markdown, "text": read_text}


def copies_by_letter(files: Sequence[CorpusFile]) -> dict[str, tuple[CorpusFile, ...]]:
    """Map file names, in the form of dead letters, to their copies, best first."""
    return {
        name_in_letters(file.name): tuple(CorpusFile(copy, root=file.root) for copy in file.copies)
        for file in files
        if file.copies
    }


def or_copy(item: Item, copies: Mapping[str, Sequence[CorpusFile]]) -> Iterator[Item]:
    """Yield the item, or the best valid copy of a refused document."""
    letters = [item]
    for copy in copies.get(item.file, ()) if isinstance(item, DeadLetter) else ():
        for read in _read(copy):
            if isinstance(read, Paper):
                yield read
                return
            letters.append(read)
    yield from letters


def naming_copies(item: Item, copies: Mapping[str, Sequence[str]]) -> Item:
    """Return the item; a refused archive member names its copy, as members cannot be read out of order."""
    if not isinstance(item, DeadLetter) or item.file not in copies:
        return item
    names = " and ".join(copies[item.file])
    return replace(item, reason=f"{item.reason}; its copy {names} was not read: unpack the archive first")


def _read(copy: CorpusFile) -> Iterator[Item]:
    for stream in streams_in(copy):
        if reader := READERS.get(format_of(stream) or "text"):  # other formats contain records
            yield from reader(stream)
