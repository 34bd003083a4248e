"""Exact similarities of given passages, among many stored vectors."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from elasticsearch import Elasticsearch
from elasticsearch.helpers import parallel_bulk

from eval.experiments.bench.cluster import PART
from eval.experiments.bench.cluster.loading import client_options
from eval.experiments.bench.corpus import SEED
from eval.experiments.bench.figures import Figure, median, percentile
from eval.experiments.bench.generated import ANALYZER
from indexer.cluster import names
from indexer.cluster.connection import Cluster
from indexer.cluster.loading import merge
from indexer.cluster.mapping import VectorField, index_body, vector_field
from indexer.requests import Progress
from indexer.settings import IndexerSettings
from retriever.engines.elasticsearch import ElasticsearchEngine

DIMENSIONS, COMPARED, QUESTIONS = 768, 100, 200
SIMILARITIES_BAR = 15.0  # milliseconds
CHUNK = 200
VECTOR_STREAM, QUESTION_STREAM = 1_000_000_002, 1_000_000_003


def measure_similarities(home: Path, count: int, progress: Progress) -> list[Figure]:
    """Measure the exact similarities of 100 passages among `count` stored vectors, as the engine asks."""
    settings = IndexerSettings(home=home, engine="elasticsearch")
    name = f"vectors-{count}"
    with Cluster(settings.elasticsearch) as cluster:
        index = names.index_of(settings.elasticsearch.prefix, name, 1)
        if not cluster.run(cluster.client.indices.exists(index=index)):
            body = index_body(ANALYZER, "discard", shards=1, meta={})
            body["mappings"]["properties"]["vector"] = vector_field(VectorField(DIMENSIONS))
            cluster.run(cluster.client.indices.create(index=index, **body))
            options = client_options(settings.elasticsearch)
            with Elasticsearch(**options) as client:
                for number, _ in enumerate(parallel_bulk(client, _vectors(index, count), chunk_size=200)):
                    if number % 1_000 == 0:
                        progress("vectors", number, count)
            cluster.run(merge(cluster.client, index, settle_s=0))
    with closing(ElasticsearchEngine(settings.elasticsearch, index, passages=count, shards=1)) as engine:
        times = asyncio.run(_round(engine, count))
    what = f"similarities of {COMPARED} of {count:,} vectors"
    return [
        Figure(PART, f"{what}, p50", 1000 * median(times), "ms", SIMILARITIES_BAR),
        Figure(PART, f"{what}, p95", 1000 * percentile(times, 0.95), "ms"),
    ]


def _vectors(index: str, count: int) -> Iterator[dict[str, Any]]:
    """Yield documents with random vectors of length 1, rounded as single-precision numbers are written."""
    random = np.random.default_rng((SEED, VECTOR_STREAM))
    for number in range(count):
        vector = random.standard_normal(DIMENSIONS).astype(np.float32)
        vector /= np.linalg.norm(vector)
        identifier = f"{number:07}"
        exact = {"passage_id": identifier, "doc_id": identifier, "lang": "en", "part": "abstract"}
        source = exact | {"sequence": number, "vector": np.round(vector.astype(float), 7).tolist()}
        yield {"_index": index, "_id": identifier, "_source": source}


async def _round(engine: ElasticsearchEngine, count: int) -> list[float]:
    random = np.random.default_rng((SEED, QUESTION_STREAM))
    times = []
    for number in range(2 * QUESTIONS):
        vector = random.standard_normal(DIMENSIONS).tolist()
        chosen = [f"{one:07}" for one in random.choice(count, COMPARED, replace=False).tolist()]
        started = time.perf_counter()
        found = await engine.similarities(vector, chosen)
        if number >= QUESTIONS:  # the first half warms up
            times.append(time.perf_counter() - started)
        if set(found) != set(chosen):
            raise ValueError(f"{len(found)} similarities of {COMPARED}")
    return times
