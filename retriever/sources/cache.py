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
from indexer.vectors.spool import DTYPES
from indexer.versions.fingerprint import lexical_fingerprint
from retriever.sources import ANALYZER, DECOMPOUND

MOST_VECTORS = 200_000  # per encoder; the oldest are evicted first
WAIT_S = 5.0  # for the lock of another process
SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, text_hash BLOB UNIQUE, vector BLOB)"
SELECT = "SELECT vector FROM vectors WHERE text_hash = ?"
INSERT = "INSERT OR REPLACE INTO vectors (text_hash, vector) VALUES (?, ?)"
SUM_BYTES = 4  # of the checksum after a vector
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
    pairs = GivenPairs().pairs
    with suppress(OSError, ValueError, IndexNotWritten):
        path = cache_folder() / name
        if not path.exists():  # it is written as a whole
            write_glossary(path, pairs(ANALYZER, DECOMPOUND, None)[1])
        return path
    write_glossary(otherwise / name, pairs(ANALYZER, DECOMPOUND, None)[1])
    return otherwise / name


class VectorCache:
    """Vectors of one encoder by the hash of the text; always empty without a writable folder.

    Several processes may use it concurrently. A damaged file is rebuilt.
    """

    def __init__(self, fingerprint: VectorFingerprint) -> None:
        """Set the path of the file, which is opened for each call."""
        self._dtype, self._dimensions = DTYPES[fingerprint.storage], fingerprint.dimensions
        self._name = f"passage-vectors-{sum_of(fingerprint.as_record())[:16]}.sqlite"

    def known(self, hashes: Sequence[bytes]) -> dict[bytes, Stored]:
        """Return the cached vectors of texts; those whose checksum does not match are left out."""
        found: dict[bytes, Stored] = {}

        def read(connection: sqlite3.Connection) -> None:
            for text_hash in hashes:
                for (kept,) in connection.execute(SELECT, (text_hash,)):
                    if isinstance(kept, bytes) and _summed(kept[:-SUM_BYTES]) == kept:
                        vector = np.frombuffer(kept[:-SUM_BYTES], self._dtype)
                        if len(vector) == self._dimensions:
                            found[text_hash] = vector

        self._use(read)
        return found

    def keep(self, vectors: Mapping[bytes, Stored]) -> None:
        """Cache vectors for later questions."""
        rows = [(text_hash, _summed(vector.tobytes())) for text_hash, vector in vectors.items()]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(INSERT, rows)
            connection.execute(DELETE_OLDEST, (MOST_VECTORS,))

        self._use(write)

    def _use(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Run a function on the open file; a damaged file is deleted, so that the next call rebuilds it."""
        try:
            path = cache_folder() / self._name
            with closing(sqlite3.connect(path, timeout=WAIT_S)) as connection, connection:
                connection.execute(SCHEMA)
                work(connection)
        except (OSError, ValueError, sqlite3.OperationalError) as error:  # locked, full, not writable
            log.debug("vectors are not cached", error=str(error))
        except sqlite3.DatabaseError as error:
            log.warning("the vector cache is damaged and will be rebuilt", file=str(path), error=str(error))
            path.unlink(missing_ok=True)


def _summed(vector: bytes) -> bytes:
    return vector + zlib.crc32(vector).to_bytes(SUM_BYTES, "little")
