"""Companion files of a version (glossary, citation graph, lexicon), stored in pieces in the cluster.

Machines that search download copies. The `_meta` of a version contains a note of each file.

"""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from elasticsearch import AsyncElasticsearch, NotFoundError

from base.errors import Remedy
from base.files.durable import temporary_path
from indexer.errors import IndexDamaged
from indexer.versions.store.build_folder import CITATIONS, COMPANIONS, GLOSSARY, LEXICON

PIECE_BYTES = 4_000_000
BODY = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}},
    "mappings": {"dynamic": "strict", "properties": {"data": {"type": "binary"}}},
}


# The key of each file in a version's `_meta`, and the suffix of the index name in the ids of its pieces.
NOTE_KEYS = {GLOSSARY: "glossary", CITATIONS: "citations", LEXICON: "lexicon"}
ID_SUFFIXES = {GLOSSARY: "", CITATIONS: "/citations", LEXICON: "/lexicon"}


class CompanionNote(TypedDict):
    """A version's note of a companion file."""

    pieces: int
    sha256: str


class Companion(NamedTuple):
    """A companion file of a version; the version's index in the cluster names it."""

    version: str
    name: str

    def piece(self, number: int) -> str:
        """Return the id of a piece."""
        return f"{self.version}{ID_SUFFIXES[self.name]}/{number}"

    def __str__(self) -> str:
        return f"{COMPANIONS[self.name]} {self.version}"


def notes_of(meta: Mapping[str, Any]) -> dict[str, CompanionNote]:
    """Return the notes of companion files in a version's `_meta`."""
    return {name: meta[key] for name, key in NOTE_KEYS.items() if meta.get(key)}


async def upload(client: AsyncElasticsearch, index: str, kept: Companion, path: Path) -> CompanionNote:
    """Write a file into `index`, replacing existing pieces of the same version."""
    digest = hashlib.sha256()
    pieces = 0
    with path.open("rb") as file:
        while data := file.read(PIECE_BYTES):
            digest.update(data)
            document = {"data": base64.b64encode(data).decode("ascii")}
            await client.index(index=index, id=kept.piece(pieces), document=document)
            pieces += 1
    await client.indices.refresh(index=index)
    return {"pieces": pieces, "sha256": digest.hexdigest()}


async def download(
    client: AsyncElasticsearch, index: str, kept: Companion, note: CompanionNote, size: int, path: Path
) -> None:
    """Write a version's file to `path` atomically; IndexDamaged if the cluster's copy is incomplete.

    At most `size` bytes are read, the size that was uploaded.
    """
    digest, left = hashlib.sha256(), size
    changed = IndexDamaged(f"the {kept} in the cluster is damaged", remedy=Remedy.REBUILD)
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = temporary_path(path)
    try:
        with passing.open("wb") as file:
            for piece in range(note["pieces"]):
                found = await client.get(index=index, id=kept.piece(piece))
                data = base64.b64decode(found["_source"]["data"])
                left -= len(data)
                if not data or left < 0:
                    raise changed
                digest.update(data)
                file.write(data)
        if digest.hexdigest() != note["sha256"]:
            raise changed
        passing.replace(path)
    except NotFoundError as error:
        raise IndexDamaged(
            f"a piece of the {kept} is missing in the cluster", remedy=Remedy.REBUILD
        ) from error
    finally:
        passing.unlink(missing_ok=True)


async def forget(client: AsyncElasticsearch, index: str, kept: Companion, note: CompanionNote) -> None:
    """Delete a version's file from `index`."""
    for piece in range(note["pieces"]):
        await client.options(ignore_status=404).delete(index=index, id=kept.piece(piece))
