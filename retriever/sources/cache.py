"""Caches in the user's cache folder: the general glossary, vectors of passages."""

import hashlib
import sqlite3
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from base.files.base_directories import base_directory
from base.logs import get_logger
from indexer.encoders import Stored, VectorFingerprint
from indexer.errors import IndexNotWritten
from indexer.files.sums import sum_of
from indexer.glossary.given import GENERAL, GivenPairs
from indexer.glossary.storage import SCHEMA as GLOSSARY_SCHEMA
from indexer.glossary.storage import write_glossary
from indexer.vectors.store import DTYPES
from indexer.versions.fingerprint import lexical_fingerprint
from retriever.sources import ANALYZER, DECOMPOUND

MOST_VECTORS = 200_000  # per encoder; the oldest are evicted first
WAIT_S = 5.0  # for the lock of another process
SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, text_hash BLOB UNIQUE, vector BLOB)"
SELECT = "SELECT vector FROM vectors WHERE text_hash = ?"
INSERT = "INSERT OR REPLACE INTO vectors (text_hash, vector) VALUES (?, ?)"
SUM_BYTES = 4  # of the checksum after a vector
# Errors of SQLite for a file that is not its own, damaged, or of another schema.
DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
DELETE_OLDEST = "DELETE FROM vectors WHERE number <= (SELECT max(number) FROM vectors) - ?"

log = get_logger("sources")


def cache_folder() -> Path:
    """Return the folder, creating it if needed; OSError or ValueError if that fails."""
    folder = base_directory("XDG_CACHE_HOME", "~/.cache") / "shrag"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def general_glossary(otherwise: Path) -> Path:
    """Return the file of the general glossary for the analysis of sources, building it if it is missing.

    If the cache folder is not writable, it is built in the folder `otherwise`.
    """
    terms = hashlib.sha256(GENERAL.read_bytes()).hexdigest()
    schema = hashlib.sha256(GLOSSARY_SCHEMA.encode()).hexdigest()
    made_of = sum_of({**lexical_fingerprint(ANALYZER, DECOMPOUND), "terms": terms, "schema": schema})
    name = f"general-glossary-{made_of[:16]}.sqlite"
    with suppress(OSError, ValueError, IndexNotWritten):
        path = cache_folder() / name
        if path.is_file() or not path.exists():  # never replace a folder or device
            return _written(path)
    return _written(otherwise / name)


def _written(path: Path) -> Path:
    if not path.is_file():  # it is written as a whole
        write_glossary(path, GivenPairs().pairs(ANALYZER, DECOMPOUND, None)[1])
    return path


class VectorCache:
    """Vectors of one encoder by the hash of the text; always empty without a writable folder.

    Several processes may use it concurrently. A damaged file is rebuilt.
    """

    def __init__(self, fingerprint: VectorFingerprint) -> None:
        """Set the path of the file, which is opened for each call."""
        self._dtype, self._dimensions = DTYPES[fingerprint.storage], fingerprint.dimensions
        self._path: Path | None = None
        with suppress(OSError, ValueError):
            path = cache_folder() / f"passage-vectors-{sum_of(fingerprint.as_record())[:16]}.sqlite"
            self._path = path if path.is_file() or not path.exists() else None

    def known(self, hashes: Sequence[bytes]) -> dict[bytes, Stored]:
        """Return the cached vectors of texts."""
        found: dict[bytes, Stored] = {}

        def read(connection: sqlite3.Connection) -> None:
            damaged = 0
            for text_hash in hashes:
                for (kept,) in connection.execute(SELECT, (text_hash,)):
                    if (vector := self._vector(kept)) is None:
                        damaged += 1
                    else:
                        found[text_hash] = vector
            if damaged:
                log.warning(
                    "cached vectors are damaged and will be computed again",
                    file=str(self._path),
                    count=damaged,
                )

        self._use(read)
        return found

    def keep(self, vectors: Mapping[bytes, Stored]) -> None:
        """Cache vectors for later questions."""

        def write(connection: sqlite3.Connection) -> None:
            rows = ((text_hash, _summed(vector.tobytes())) for text_hash, vector in vectors.items())
            with connection:
                connection.executemany(INSERT, rows)
                connection.execute(DELETE_OLDEST, (MOST_VECTORS,))

        self._use(write)

    def _vector(self, kept: object) -> Stored | None:
        """Return a stored vector; None if its checksum does not match."""
        if isinstance(kept, bytes) and _summed(kept[:-SUM_BYTES]) == kept:
            vector = np.frombuffer(kept[:-SUM_BYTES], self._dtype)
            if len(vector) == self._dimensions:
                return vector
        return None

    def _use(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Run a function on the open file; rebuild a damaged file, and ignore other errors."""
        if (path := self._path) is None:
            return
        for _ in range(2):
            try:
                with closing(sqlite3.connect(path, timeout=WAIT_S)) as connection:
                    connection.execute(SCHEMA)
                    work(connection)
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGE:
                    log.debug("vectors are not cached", file=str(path), error=str(error))
                    return
                log.warning(
                    "the vector cache is damaged and will be rebuilt", file=str(path), error=str(error)
                )
                with suppress(OSError):
                    for file in (path, path.with_name(f"{path.name}-journal")):
                        file.unlink(missing_ok=True)
            else:
                return


def _summed(vector: bytes) -> bytes:
    return vector + zlib.crc32(vector).to_bytes(SUM_BYTES, "little")
