"""The glossary of a version, kept in the cluster in pieces, so that every machine that searches has it."""

import base64
import hashlib
from pathlib import Path
from typing import TypedDict

from elasticsearch import AsyncElasticsearch, NotFoundError

from indexer.durable import temporary_path
from indexer.errors import IndexDamaged, Remedy

PIECE_BYTES = 4_000_000
BODY = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}},
    "mappings": {"dynamic": "strict", "properties": {"data": {"type": "binary"}}},
}


class GlossaryNote(TypedDict):
    """What a version remembers of its glossary."""

    pieces: int
    sha256: str


async def upload(client: AsyncElasticsearch, index: str, key: str, path: Path) -> GlossaryNote:
    """Write a glossary file into `index`; pieces that stand there under the same key are replaced."""
    digest = hashlib.sha256()
    pieces = 0
    with path.open("rb") as file:
        while data := file.read(PIECE_BYTES):
            digest.update(data)
            document = {"data": base64.b64encode(data).decode("ascii")}
            await client.index(index=index, id=f"{key}/{pieces}", document=document)
            pieces += 1
    await client.indices.refresh(index=index)
    return {"pieces": pieces, "sha256": digest.hexdigest()}


async def download(
    client: AsyncElasticsearch, index: str, key: str, note: GlossaryNote, size: int, path: Path
) -> None:
    """Write the glossary to `path`, whole or not at all; IndexDamaged where the cluster's is not whole.

    No more than `size` bytes are taken, as many as were written.
    """
    digest, left = hashlib.sha256(), size
    changed = IndexDamaged(
        f"the glossary {key} in the cluster is not what was written", remedy=Remedy.REBUILD
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = temporary_path(path)
    try:
        with passing.open("wb") as file:
            for piece in range(note["pieces"]):
                found = await client.get(index=index, id=f"{key}/{piece}")
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
            f"a piece of the glossary {key} is missing in the cluster", remedy=Remedy.REBUILD
        ) from error
    finally:
        passing.unlink(missing_ok=True)


async def forget(client: AsyncElasticsearch, index: str, key: str, note: GlossaryNote) -> None:
    """Delete a glossary from `index`."""
    for piece in range(note["pieces"]):
        await client.options(ignore_status=404).delete(index=index, id=f"{key}/{piece}")
