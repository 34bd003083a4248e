"""Comparison of the writer with the client's parallel_bulk, and the memory of a whole build.

Requires a server without other load. The measured indexes remain for the next run, under the configured
prefix.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import partial
from statistics import median
from typing import Any

from elasticsearch import Elasticsearch
from elasticsearch.helpers import parallel_bulk

from benchmarks.corpora.generated import documents
from benchmarks.corpora.index import ANALYZER, passage_of, tokens_of
from benchmarks.corpora.korean import write_copies
from benchmarks.figures import Figure
from benchmarks.memory import GIGABYTE, peak_bytes
from benchmarks.plan import Plan
from benchmarks.progressive import CLUSTER_PART as PART
from benchmarks.timing import seconds_of
from indexer.analysis.analysed import AnalysedPassage
from indexer.forward.building import ForwardWriter
from indexer.settings import ElasticsearchSettings
from indexer.versions.cluster.connection import connect
from indexer.versions.cluster.documents import document_id, to_document
from indexer.versions.cluster.mapping import index_body, index_of
from indexer.versions.store.build_folder import PARTS
from indexer.versions.writers.elasticsearch import ElasticsearchWriter

RATE_BAR, MEMORY_BAR = 0.9, 0.5
LOADED = 100_000  # documents in the comparison with the bare client
INDEXED_TO = 100_000  # passages of the build for the memory measurement
CLIENT_THREADS, CLIENT_CHUNK = 4, 500
LOOKED_EVERY_S = 0.1


def measure_loading(plan: Plan) -> list[Figure]:
    """Measure the writer and the client's parallel_bulk alternately, each into an empty index."""
    settings = plan.settings("elasticsearch").elasticsearch
    passages = [
        (passage_of(document), AnalysedPassage(tokens_of(document))) for document in documents(LOADED)
    ]
    index, building = index_of(settings.prefix, "loading", 1), plan.home / "loading"
    building.mkdir(parents=True, exist_ok=True)
    forward = ForwardWriter(building / PARTS)
    actions = [
        {
            "_index": index,
            "_id": document_id(passage.passage_id),
            "_source": to_document(passage, analysed.tokens, forward.row(passage, analysed), number),
        }
        for number, (passage, analysed) in enumerate(passages)
    ]
    rates: dict[str, list[float]] = {"write": [], "bulk": []}
    with connect(settings) as client:

        def write() -> None:
            with ElasticsearchWriter(
                client, settings, index, base=None, unit="paper", building=building, lexicon=None
            ) as writer:
                for sequence, (passage, analysed) in enumerate(passages):
                    writer.add(passage, analysed, sequence)
                writer.commit()

        for turn in range(plan.rounds):
            plan.progress("loading", turn, plan.rounds)
            for way, load in (("write", write), ("bulk", partial(bulk, settings, actions, CLIENT_CHUNK))):
                client.options(ignore_status=404).indices.delete(index=index)
                client.indices.create(index=index, **index_body(ANALYZER, "discard", shards=1, meta={}))
                for path in building.glob("committed*"):
                    path.unlink()
                shutil.rmtree(building / PARTS, ignore_errors=True)
                rates[way].append(LOADED / seconds_of(load))
        client.indices.delete(index=index)
    ratio = median([ours / bare for ours, bare in zip(*rates.values(), strict=True)])
    return [
        Figure(PART, "indexing, this writer", median(rates["write"]), "documents/s"),
        Figure(PART, "indexing, the client's parallel_bulk alone", median(rates["bulk"]), "documents/s"),
        Figure(PART, "this writer by parallel_bulk", ratio, "×", RATE_BAR, higher_is_better=True),
    ]


def bulk(settings: ElasticsearchSettings, actions: Iterable[dict[str, Any]], chunk: int) -> None:
    """Send actions with the client's parallel_bulk; ValueError if one is refused."""
    password = settings.password.get_secret_value()
    with Elasticsearch(
        settings.url.split(","),
        basic_auth=(settings.user or "elastic", password),
        request_timeout=settings.timeout_s,
    ) as client:
        for taken, item in parallel_bulk(client, actions, thread_count=CLIENT_THREADS, chunk_size=chunk):
            if not taken:
                raise ValueError(f"the cluster refused a document: {item}")


def measure_build_memory(plan: Plan) -> list[Figure]:
    """Measure the peak resident size of `shrag index` into the cluster, in a separate process."""
    copies = -(-INDEXED_TO // len(plan.passages))
    path = write_copies(plan.home / "cluster-korean.jsonl", plan.passages, copies)
    command = [sys.executable, "-m", "shrag", "index", str(path), "--name", "korean", "--format", "miracl"]
    environment = os.environ | {"SHRAG_ENGINE": "elasticsearch", "SHRAG_HOME": str(plan.home)}
    started = time.perf_counter()
    peak = 0
    with subprocess.Popen(  # noqa: S603 - own command
        [*command, "--rebuild"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as build:
        while build.poll() is None:
            peak = max(peak, peak_bytes(build.pid))
            time.sleep(LOOKED_EVERY_S)
    if build.returncode:
        raise ValueError(f"the build ended with {build.returncode}: {' '.join(command)}")
    seconds = time.perf_counter() - started
    count = copies * len(plan.passages)
    return [
        Figure(PART, f"{count:,} Korean passages, published", count / seconds, "passages/s"),
        Figure(PART, "peak resident size of the indexer", peak / GIGABYTE, "GB", MEMORY_BAR),
    ]
