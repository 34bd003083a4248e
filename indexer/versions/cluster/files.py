"""Companion files of versions in a cluster, such as glossary and lexicon, and local copies.

The index PREFIX.files contains each file in pieces; the manifest has its size and its checksum. A machine
that searches downloads a file once, into the folder of the version in its SHRAG_HOME.
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from pathlib import Path

from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk

from base.errors import Remedy
from base.files.durable import replacing
from indexer.errors import IndexDamaged, IndexNotWritten
from indexer.files.sums import FileSum
from indexer.versions.cluster.mapping import FILES_BODY
from indexer.versions.store.build_folder import COMPANIONS, DICTIONARY, BuildFolder, versions_in

PIECE_BYTES = 4_000_000
MAX_PIECES = 10_000  # of all files of a version
FILES = {**COMPANIONS, DICTIONARY: "dictionary"}


def create_files_index(client: Elasticsearch, place: str) -> None:
    """Create the index of files and claims, unless it exists."""
    if not client.indices.exists(index=place):
        client.options(ignore_status=400).indices.create(index=place, **FILES_BODY)  # 400: just created


def upload(client: Elasticsearch, place: str, version: str, path: Path) -> None:
    """Write a file of the version with the index `version`."""
    with path.open("rb") as file:
        for number, data in enumerate(iter(partial(file.read, PIECE_BYTES), b"")):
            document = {"version": version, "data": b64encode(data).decode()}
            client.index(index=place, id=_piece(version, path.name, number), document=document)


def download(
    client: Elasticsearch, place: str, version: str, name: str, written: FileSum, path: Path
) -> None:
    """Write a version's file to `path` atomically; IndexDamaged if it has another checksum than `written`."""
    what = f"the {FILES[name]} of {version} in the cluster"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        with replacing(path) as file:
            for number in range(-(-written.bytes // PIECE_BYTES)):
                key = _piece(version, name, number)
                found = client.options(ignore_status=404).get(index=place, id=key)
                if not found.get("found"):
                    raise IndexDamaged(f"{what} lacks a piece ({key})", remedy=Remedy.REBUILD)
                data = b64decode(found["_source"]["data"])
                size += file.write(data)
                digest.update(data)
            if FileSum(size, digest.hexdigest()) != written:
                raise IndexDamaged(f"{what} has a wrong checksum", remedy=Remedy.REBUILD)
    except OSError as error:
        raise IndexNotWritten(
            f"{what} cannot be copied to {path.parent} ({error.strerror or error})",
            remedy=("free disk space", "set SHRAG_HOME to a writable folder"),
        ) from error


def remove_files(client: Elasticsearch, place: str, version: str) -> None:
    """Remove all files of a version."""
    client.indices.refresh(index=place)
    found = client.search(index=place, query={"term": {"version": version}}, size=MAX_PIECES, source=False)
    removed = [{"_op_type": "delete", "_index": place, "_id": hit["_id"]} for hit in found["hits"]["hits"]]
    bulk(client, removed, raise_on_error=False)


def _piece(version: str, name: str, number: int) -> str:
    return f"{version}/{name}/{number}"


def remove_old_copies(local: BuildFolder, there: Collection[int]) -> None:
    """Remove the copies of versions that are not in `there`, and their folders if they are empty then."""
    for name, folder in versions_in(local.versions).items():
        if name.isdecimal() and int(name) not in there:
            with suppress(OSError):
                for copy in [copy for kind in FILES for copy in folder.glob(f"*-{kind}")]:
                    copy.unlink()
                folder.rmdir()
