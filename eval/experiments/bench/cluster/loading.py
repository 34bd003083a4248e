"""The writer beside the client's own parallel_bulk, and the memory of a whole build."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch
from elasticsearch.helpers import parallel_bulk

from eval.experiments.bench.cluster import PART
from eval.experiments.bench.corpus import documents
from eval.experiments.bench.figures import Figure, median
from eval.experiments.bench.generated import ANALYZER, passage_of
from eval.experiments.bench.indexing import write_copies
from eval.experiments.bench.korean import Passage
from eval.experiments.bench.memory import peak_bytes
from indexer.cluster import names
from indexer.cluster.connection import Cluster
from indexer.cluster.documents import document_id, to_document
from indexer.cluster.loading import create_for_loading
from indexer.requests import Progress
from indexer.settings import ElasticsearchSettings, IndexerSettings
from indexer.writers.elasticsearch import ElasticsearchWriter

RATE_BAR, MEMORY_BAR = 0.9, 0.5
LOADED = 100_000  # documents of the comparison with a bare client
INDEXED_TO = 100_000  # passages of the build whose memory is measured
CLIENT_THREADS, CLIENT_CHUNK = 4, 500
LOOKED_EVERY_S = 0.1
GIGABYTE = 10**9


def measure_loading(home: Path, rounds: int, progress: Progress) -> list[Figure]:
    """Measure the writer beside the client's own parallel_bulk, in turn, each into an empty index."""
    settings = IndexerSettings(home=home, engine="elasticsearch").elasticsearch
    passages = [passage_of(document) for document in documents(LOADED)]
    building = home / "loading"
    building.mkdir(parents=True, exist_ok=True)
    ours, bare = [], []
    with Cluster(settings) as cluster:
        index = names.index_of(settings.prefix, "loading", 1)

        def empty() -> None:
            cluster.run(cluster.client.options(ignore_status=404).indices.delete(index=index))
            cluster.run(create_for_loading(cluster.client, index, ANALYZER, "discard", 1))
            for path in building.glob("committed*"):
                path.unlink()

        for turn in range(rounds):
            progress("loading", turn, rounds)
            empty()
            started = time.perf_counter()
            with ElasticsearchWriter(
                cluster,
                index,
                base=None,
                unit="paper",
                building=building,
                refuse=lambda _: None,
                still_held=lambda: None,
            ) as writer:
                for sequence, passage in enumerate(passages):
                    writer.add(passage, None, sequence)
                writer.commit()
            ours.append(LOADED / (time.perf_counter() - started))
            empty()
            actions = [
                {"_index": index, "_id": document_id(one.passage_id), "_source": to_document(one, number)}
                for number, one in enumerate(passages)
            ]
            bare.append(LOADED / _bare_seconds(client_options(settings), actions))
        cluster.run(cluster.client.indices.delete(index=index))
    ratio = median([one / other for one, other in zip(ours, bare, strict=True)])
    return [
        Figure(PART, "indexing, this writer", median(ours), "documents/s"),
        Figure(PART, "indexing, the client's parallel_bulk alone", median(bare), "documents/s"),
        Figure(PART, "this writer by parallel_bulk", ratio, "×", RATE_BAR, higher_is_better=True),
    ]


def client_options(settings: ElasticsearchSettings) -> dict[str, Any]:
    """Return what the client is made with."""
    return {
        "hosts": settings.url.split(","),
        "basic_auth": (settings.user or "elastic", settings.password.get_secret_value()),
        "request_timeout": settings.timeout_s,
    }


def _bare_seconds(options: dict[str, Any], actions: Sequence[dict[str, Any]]) -> float:
    with Elasticsearch(**options) as client:
        started = time.perf_counter()
        for taken, item in parallel_bulk(
            client, actions, thread_count=CLIENT_THREADS, chunk_size=CLIENT_CHUNK
        ):
            if not taken:
                raise ValueError(f"the cluster refused a document: {item}")
        return time.perf_counter() - started


def measure_build_memory(home: Path, passages: Sequence[Passage]) -> list[Figure]:
    """Measure the peak resident size of `shrag index` into the cluster, a process of its own."""
    copies = -(-INDEXED_TO // len(passages))
    path = home / "cluster-korean.jsonl"
    write_copies(path, passages, copies)
    command = [sys.executable, "-m", "shrag", "index", str(path), "--name", "korean", "--format", "miracl"]
    environment = os.environ | {"SHRAG_ENGINE": "elasticsearch", "SHRAG_HOME": str(home)}
    started = time.perf_counter()
    peak = 0
    with subprocess.Popen(  # noqa: S603 - own command
        [*command, "--rebuild"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as build:
        while build.poll() is None:
            peak = peak_bytes(build.pid) or peak
            time.sleep(LOOKED_EVERY_S)
    if build.returncode:
        raise ValueError(f"the build ended with {build.returncode}: {' '.join(command)}")
    seconds = time.perf_counter() - started
    count = copies * len(passages)
    return [
        Figure(PART, f"{count:,} Korean passages, published", count / seconds, "passages/s"),
        Figure(PART, "peak resident size of the indexer", peak / GIGABYTE, "GB", MEMORY_BAR),
    ]
