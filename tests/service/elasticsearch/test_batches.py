"""Where the cluster's writer cuts its batches, and how long a merge is waited for; no server is asked."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from indexer.cluster import loading
from indexer.cluster.connection import Cluster
from indexer.packing import PassageTokens
from indexer.papers import Paper
from indexer.settings import ElasticsearchSettings
from indexer.stored import stored_passages
from indexer.writers.elasticsearch import Batch, ElasticsearchWriter, Outcome


class Recording(ElasticsearchWriter):
    """A writer that delivers its batches to the test."""

    def __init__(self, cluster: Cluster, building: Path) -> None:
        self.delivered: list[Batch] = []
        super().__init__(
            cluster,
            "papers@000002",
            base=None,
            unit="paper",
            building=building,
            refuse=lambda _: None,
            still_held=lambda: None,
        )

    async def _deliver(self, batch: Batch) -> Outcome:
        self.delivered.append(batch)
        return Outcome([], 0, 0, 2.0, retried=False)  # neither quick nor slow: the size stays


@pytest.fixture
def writer(tmp_path: Path):
    with Cluster(ElasticsearchSettings(request_bytes=1_000)) as cluster:
        yield Recording(cluster, tmp_path)


def test_what_a_record_replaces_and_its_passages_go_in_one_batch(writer: Recording):
    for sequence in range(9):
        writer.replace("doc_id", f"P{sequence}")
        paper = Paper(id=f"P{sequence}", title="강", abstract="강은 길다. " * 60)
        for passage in stored_passages(paper, "paper"):
            writer.add(passage, PassageTokens(), sequence)
    writer.commit()
    assert len(writer.delivered) > 2
    for batch in writer.delivered:
        added = {document["doc_id"] for document, _ in batch.documents}
        assert added == set(batch.replaced["doc_id"])


def test_what_only_takes_out_is_cut_too(writer: Recording):
    for number in range(300):
        writer.replace("doc_id", f"P{number:09}")
    writer.commit()
    assert [len(batch.replaced["doc_id"]) for batch in writer.delivered] == [100, 100, 100]


def test_a_first_merge_that_takes_long_does_not_use_up_the_wait_for_deleted_passages(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(loading, "FLUSHED_EVERY_S", 0)
    monkeypatch.setattr(loading, "ASKED_EVERY_S", 0)
    merges = 0

    async def nothing(**_: Any) -> None:
        pass

    async def forcemerge(**_: Any) -> None:
        nonlocal merges
        merges += 1
        if merges == 1:
            await asyncio.sleep(0.3)  # longer than is waited for deleted passages

    async def stats(**_: Any) -> dict[str, Any]:
        primaries = {
            "docs": {"deleted": 0 if merges == 2 else 7},
            "merges": {"current": 0},
            "segments": {"count": 1},
        }
        return {"_all": {"primaries": primaries}, "_shards": {"successful": 1}}

    client = SimpleNamespace(
        indices=SimpleNamespace(flush=nothing, refresh=nothing, forcemerge=forcemerge, stats=stats)
    )
    asyncio.run(loading.merge(cast("Any", client), "papers@000002", settle_s=0.2))
    assert merges == 2
