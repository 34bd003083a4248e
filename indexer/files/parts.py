"""Parts: immutable folders of numbers, which the versions of an index share by hard links.

The name of a part is the number of its first element, so parts are read in the order of their names.
"""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

PART = "[0-9]" * 12  # pattern of a part's name
Column: TypeAlias = NDArray[Any]


def part_name(first: int) -> str:
    """Return the name of the part that starts with a number."""
    return f"{first:012}"


def parts_in(folder: Path) -> list[Path]:
    """Return the parts in a folder, in order; none without the folder."""
    return sorted(folder.glob(PART))


def write_part(folder: Path, files: Mapping[str, Iterable[Any]]) -> None:
    """Write the pieces of files, which may be mapped, into a new folder that replaces one of that name."""
    writing = folder.with_name(f".{folder.name}")
    writing.mkdir(parents=True)
    for name, pieces in files.items():
        with (writing / name).open("wb") as file:
            file.writelines(pieces)
    shutil.rmtree(folder, ignore_errors=True)
    writing.rename(folder)


def first_small_part(sizes: Sequence[int]) -> int:
    """Return the place of the first part to join with all later ones; the number of parts if there is none.

    It is less than twice as large as the later parts together. So a version has about as many parts as the
    logarithm of its passages, and a passage is rewritten as often.
    """
    places = range(len(sizes) - 1)
    return next((place for place in places if sizes[place] < 2 * sum(sizes[place + 1 :])), len(sizes))


def kept_runs(kept: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the start and the end of each run of True."""
    edges = np.flatnonzero(np.diff(kept, prepend=False, append=False))
    return [(int(first), int(stop)) for first, stop in edges.reshape(-1, 2)]


def map_numbers(path: Path, dtype: np.dtype[Any]) -> Column:
    """Map a file of numbers; return an empty array for an empty file, which cannot be mapped."""
    if not path.stat().st_size:
        return np.zeros(0, dtype)
    return np.asarray(np.memmap(path, dtype, "r"))


def try_link(path: Path, target: Path) -> bool:
    """Make a hard link; False without the file, or on a file system without links."""
    try:
        os.link(path, target)
    except OSError:
        return False
    return True


def link_files(source: Path, target: Path, copied: Sequence[str] = ()) -> None:
    """Copy the files below a folder by hard links; those with some names, or without links, by content."""
    for path in source.rglob("*"):
        if path.is_file() and path.suffix != ".lock":
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.name in copied or not try_link(path, copy):
                shutil.copy2(path, copy)
