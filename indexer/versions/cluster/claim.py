"""The claim of a writer: one process at a time writes an index, by a document that only one can create.

A claim does not expire. A process with the same SHRAG_HOME takes over the claim of a killed one, because it
has the lock of that folder. Otherwise the claim of a killed process is removed by hand; the error says how.
"""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from elasticsearch import Elasticsearch

from base.files.durable import write_durably
from indexer.errors import EngineRefused, EngineUnreachable, IndexBusy
from indexer.versions.cluster.connection import CONFLICT, NOT_FOUND

HOLDER = "holder"  # the file with the name of the holder


@contextmanager
def hold_claim(client: Elasticsearch, url: str, place: str, alias: str, holder: str) -> Iterator[None]:
    """Hold the claim for `alias`, a document in the index `place`; the caller has the lock of the home.

    Raises:
        IndexBusy: another process holds it.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    at: dict[str, Any] = {"index": place, "id": alias}
    document = {"claim": {"holder": holder, "host": socket.gethostname(), "pid": os.getpid(), "since": now}}
    written = client.options(ignore_status=CONFLICT).index(**at, document=document, op_type="create")
    if written.meta.status == CONFLICT:
        other = claim_of(client, place, alias)
        if other and other["holder"] != holder:
            request = f"DELETE {url.partition(',')[0]}/{place}/_doc/{quote(alias, safe='')}"
            who = f"process {other['pid']} on {other['host']}, since {other['since']}"
            killed = f"if it was killed, repeat its command there, or remove its claim ({request})"
            wait = "wait for it, then try again"
            raise IndexBusy(f"another process is writing to {alias}: {who}", remedy=(wait, killed))
        written = client.index(**at, document=document)
    own = {"if_seq_no": written["_seq_no"], "if_primary_term": written["_primary_term"]}
    try:
        yield
    finally:  # unless the claim was removed, and another process has one
        with suppress(EngineUnreachable, EngineRefused):
            client.options(ignore_status=(NOT_FOUND, CONFLICT)).delete(**at, **own)


def claim_of(client: Elasticsearch, place: str, alias: str) -> dict[str, Any]:
    """Return the claim for an alias; empty without one."""
    found = client.options(ignore_status=NOT_FOUND).get(index=place, id=alias)
    claim: dict[str, Any] = found.get("_source", {}).get("claim", {})
    return claim


def holder_at(place: Path) -> str:
    """Return the name of the folder of an index as a holder; it is created at the first call."""
    path = place / HOLDER
    if not path.exists():
        write_durably(path, f"{uuid.uuid4().hex}\n")
    return path.read_text(encoding="utf-8").strip()
