"""The files of the mirrors of an index: opening, the lock, errors of SQLite."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from base.files.locks import lock_file
from indexer.errors import IndexBusy, IndexDamaged, IndexNotWritten
from indexer.harvesting.mirror import DamagedState, Mirror, MirrorState, state_from
from indexer.harvesting.repository import Repository

ENDING = ".sqlite"
LOCK = "harvest.lock"


@contextmanager
def harvest_lock(folder: Path, index: str) -> Iterator[None]:
    """Lock the mirrors of an index against other harvests; IndexBusy immediately if they are locked."""
    folder.mkdir(parents=True, exist_ok=True)
    busy = IndexBusy(f"another process is harvesting into index {index!r}", remedy="wait for it", index=index)
    with lock_file(folder / LOCK, busy):
        yield


@contextmanager
def open_mirror(folder: Path, repository: Repository, index: str) -> Iterator[Mirror]:
    """Open or create the mirror of a repository in the folder of an index's mirrors, until the block ends.

    Raises:
        IndexNotWritten: disk full, no permission.
        IndexDamaged: the file is damaged, or was written by a later version.
    """
    path = folder / f"{repository.slug}{ENDING}"
    with map_sqlite_errors(path, index):
        connection = sqlite3.connect(path, check_same_thread=False)
        try:
            yield Mirror.opened(connection, path, repository)
        finally:
            connection.close()


@contextmanager
def map_sqlite_errors(path: Path, index: str) -> Iterator[None]:
    """Convert errors of SQLite to IndexNotWritten, or to IndexDamaged for a damaged file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise IndexNotWritten(
            f"the harvested records {path} were not written ({error})",
            remedy="fix the cause and repeat the command, which continues",
            index=index,
        ) from error
    except (sqlite3.DatabaseError, zlib.error, DamagedState) as error:
        raise IndexDamaged(
            f"the harvested records {path} cannot be read ({error})",
            remedy="move that file elsewhere; the next call harvests everything again",
            index=index,
        ) from error


def states_in(folder: Path) -> list[MirrorState]:
    """Return the states of the mirrors in a folder, by name. Raises as `open_mirror`."""
    found = []
    for path in sorted(folder.glob(f"*{ENDING}")):
        with map_sqlite_errors(path, folder.parent.name):
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)
            try:
                stored = connection.execute("SELECT value FROM state WHERE name = 'state'").fetchone()
            finally:
                connection.close()
            if stored:
                found.append(state_from(stored[0]))
    return found
