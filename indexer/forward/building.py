"""The forward index during a build: rows in parts, after those of the base version."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from base.files.durable import write_durably
from indexer.analysis.analysed import AnalysedPassage
from indexer.files.parts import (
    Column,
    first_small_part,
    kept_runs,
    map_numbers,
    part_name,
    parts_in,
    write_part,
)
from indexer.files.schema import StoredPassage
from indexer.forward.columns import (
    COLUMNS,
    IDS,
    NUMBER,
    REMOVED,
    ROWS,
    SIZE,
    SIZES,
    WORD,
    empty_rows,
    read_removed,
)
from indexer.forward.lexicon import LexiconBuilder
from indexer.forward.rows import RowTokens, pack_row

PART_BYTES = 32_000_000  # of rows; a larger part is written to disk


class RowWriter:
    """Adds rows to the parts of the base version in a folder."""

    def __init__(self, folder: Path) -> None:
        """Continue the numbers of the base; FileNotFoundError if a file is missing."""
        self._folder, self._next = folder, sum(map(_size, parts_in(folder)))
        self._is_new = not self._next
        self._removed, self._removed_now = read_removed(folder), list[int]()
        self._start_part()

    def _start_part(self) -> None:
        self._rows: list[bytes] = []
        self._ids: list[bytes] = []
        self._sizes: list[tuple[int, int, int]] = []
        self._bytes = 0  # of rows

    @property
    def removed(self) -> Column:
        """The numbers of removed passages, ascending."""
        return np.union1d(self._removed, np.array(self._removed_now, np.int64))

    def add(self, passage: StoredPassage, row: bytes) -> int:
        """Add a row, and return the number of its passage."""
        passage_id, doc_id = passage.passage_id.encode(), passage.doc_id.encode()
        self._rows.append(row)
        self._ids.append(passage_id)
        self._sizes.append((len(row) // WORD.itemsize, len(passage_id), len(doc_id)))
        self._bytes += len(row)
        self._next += 1
        if self._bytes > PART_BYTES:
            self.flush()
        return self._next - 1

    def remove(self, numbers: Sequence[int]) -> None:
        """Mark passages of the base as removed."""
        self._removed_now += numbers

    def flush(self) -> None:
        """Write the rows since the last part into a new one."""
        if self._rows:
            sizes = np.array(self._sizes, SIZE)
            files: dict[str, Iterable[Any]] = {ROWS: self._rows, IDS: self._ids, SIZES: [sizes]}
            write_part(self._folder / part_name(self._next - len(self._rows)), files)
            self._start_part()

    def finish(self) -> None:
        """Write everything, and join small parts; in a build from empty all of them."""
        self.flush()
        self._folder.mkdir(exist_ok=True)
        removed = self.removed
        _join_parts(self._folder, removed, every=self._is_new)
        left = np.setdiff1d(removed, empty_rows(self._folder)).astype(NUMBER)
        write_durably(self._folder / REMOVED, left.tobytes())


def _join_parts(folder: Path, removed: Column, *, every: bool) -> None:
    """Join the small parts in a folder, or every part, with empty rows for removed passages."""
    paths = parts_in(folder)
    sizes = list(map(_size, paths))
    place = 0 if every else first_small_part(sizes)
    if len(joined := paths[place:]) < 2:  # noqa: PLR2004
        return
    edges = np.cumsum([int(joined[0].name), *sizes[place:]])
    masks = [~np.isin(np.arange(start, end), removed) for start, end in pairwise(edges)]
    write_part(joined[0], {name: _kept(joined, masks, name) for name in COLUMNS})
    for path in joined[1:]:
        shutil.rmtree(path)


def _size(path: Path) -> int:
    return (path / SIZES).stat().st_size // SIZE.itemsize


def _kept(paths: Sequence[Path], masks: Sequence[NDArray[np.bool_]], name: str) -> Iterator[Column]:
    """Yield a column of several parts; a passage that is not kept has the sizes 0."""
    for path, mask in zip(paths, masks, strict=True):
        sizes, column = map_numbers(path / SIZES, SIZE), map_numbers(path / name, COLUMNS[name])
        if name == SIZES:
            yield np.where(mask, sizes, np.zeros(1, SIZE))
            continue
        ends = np.cumsum(sizes[name], dtype=np.int64)
        for first, stop in kept_runs(mask):
            yield column[int(ends[first - 1]) if first else 0 : int(ends[stop - 1])]


def packed_row(passage: StoredPassage, analysed: AnalysedPassage, lexicon: LexiconBuilder) -> bytes:
    """Pack the row of a passage, numbering its new terms in the lexicon."""
    tokens = analysed.tokens
    title = lexicon.numbers(tokens.title.words())
    named = sum(number > 0 for number in title)
    whole = passage.title.rstrip()
    if whole.endswith(")") and (bracket := whole.rfind("(")) > 0:  # as in "Mercury (planet)"
        named = sum(end <= bracket for *_, end in tokens.title.tokens())
    body, other = lexicon.numbers(tokens.text.words()), lexicon.numbers(tokens.title2.words())
    return pack_row(passage, RowTokens(body, other, title, analysed.names, named))
