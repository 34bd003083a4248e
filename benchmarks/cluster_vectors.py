"""Exact similarities of given passages, among many stored vectors."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from base.progress import Progress
from benchmarks.cluster_loading import bulk
from benchmarks.corpora.generated import SEED
from benchmarks.corpora.index import ANALYZER
from benchmarks.figures import Figure
from benchmarks.plan import Plan
from benchmarks.progressive import CLUSTER_PART as PART
from benchmarks.timing import latencies, measure_in_turn
from indexer.forward.lexicon import Lexicon, TokenCounts, lexicon_bytes
from indexer.versions.cluster.connection import connect
from indexer.versions.cluster.mapping import index_body, index_of, vector_field
from retriever.engines.elasticsearch import ElasticsearchEngine

VECTORS, DIMENSIONS, COMPARED, QUESTIONS = 200_000, 768, 100, 200
SIMILARITIES_BAR = 15.0  # milliseconds
CHUNK = 200
VECTOR_STREAM, QUESTION_STREAM = 1_000_000_002, 1_000_000_003


def measure_similarities(plan: Plan) -> list[Figure]:
    """Measure the exact similarities of 100 passages among many stored vectors, as in a search."""
    settings, count = plan.settings("elasticsearch"), min(VECTORS, plan.documents)
    name = f"vectors-{count}"
    with connect(settings.elasticsearch) as client:
        index = index_of(settings.elasticsearch.prefix, name, 1)
        if not client.indices.exists(index=index):
            body = index_body(ANALYZER, "discard", shards=1, meta={})
            body["mappings"]["properties"]["vector"] = vector_field(DIMENSIONS)
            client.indices.create(index=index, **body)
            bulk(settings.elasticsearch, _vectors(index, count, plan.progress), CHUNK)
            client.options(request_timeout=3600).indices.forcemerge(index=index, max_num_segments=1)
    lexicon = Lexicon(lexicon_bytes([], TokenCounts()))  # the documents contain only vectors
    engine = ElasticsearchEngine(settings.elasticsearch, index, passages=count, shards=1, lexicon=lexicon)
    with closing(engine):
        times = asyncio.run(_round(engine, count))
    return latencies(PART, f"similarities of {COMPARED} of {count:,} vectors", times, SIMILARITIES_BAR)


def _vectors(index: str, count: int, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield documents with random unit vectors, rounded to single precision."""
    random = np.random.default_rng((SEED, VECTOR_STREAM))
    for number in range(count):
        if number % 1_000 == 0:
            progress("vectors", number, count)
        vector = random.standard_normal(DIMENSIONS).astype(np.float32)
        vector /= np.linalg.norm(vector)
        identifier = f"{number:07}"
        exact = {"passage_id": identifier, "doc_id": identifier, "lang": "en", "part": "abstract"}
        source = exact | {"sequence": number, "vector": np.round(vector.astype(float), 7).tolist()}
        yield {"_index": index, "_id": identifier, "_source": source}


async def _round(engine: ElasticsearchEngine, count: int) -> list[float]:
    random = np.random.default_rng((SEED, QUESTION_STREAM))
    asked = [
        (
            random.standard_normal(DIMENSIONS).astype(np.float32),
            random.choice(count, COMPARED, replace=False).tolist(),
        )
        for _ in range(2 * QUESTIONS)
    ]

    async def compare(question: tuple[NDArray[np.float32], list[int]]) -> None:
        vector, numbers = question
        found = await engine.similarities(vector, [f"{number:07}" for number in numbers])
        if len(found) != COMPARED:
            raise ValueError(f"{len(found)} similarities of {COMPARED}")

    times = await measure_in_turn({"similarities": compare}, asked)
    return times["similarities"][QUESTIONS:]  # the first half warms up
