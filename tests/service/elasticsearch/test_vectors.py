"""Vectors in a cluster: exact similarities of given passages, and the nearest of all."""

import math
from contextlib import closing

import numpy as np
import pytest

from indexer.forward.lexicon import Lexicon, TokenCounts, lexicon_bytes
from indexer.versions.cluster.documents import index_body, index_of, vector_field
from retriever.engines.elasticsearch import ElasticsearchEngine
from retriever.queries.filters import Filters
from tests.service.elasticsearch.own_prefix import client_of, own_prefix

# Angles to (1, 0), in degrees; the last passage has no vector.
ANGLES = {"P-0": 0, "P-30": 30, "P-90": 90, "P-180": 180, "P-none": None}


def direction(angle):
    return np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))], np.float32)


@pytest.fixture(params=["flat", "hnsw"])
def index(request, elasticsearch, tmp_path):
    with own_prefix(elasticsearch) as settings_for:
        settings = settings_for(tmp_path).elasticsearch
        index = index_of(settings.prefix, "vectors", 1)
        with client_of(settings) as client:
            body = index_body("english", "none", shards=1, meta={})
            body["mappings"]["properties"]["vector"] = vector_field(2, index=request.param)
            client.indices.create(index=index, **body)
            for number, (name, angle) in enumerate(ANGLES.items()):
                document = {"passage_id": name, "doc_id": name, "lang": "en", "sequence": number}
                if angle is not None:
                    document["vector"] = direction(angle).tolist()
                client.index(index=index, id=name, document=document)
            client.indices.refresh(index=index)
        yield settings, index


@pytest.fixture
def engine(index):
    settings, name = index
    lexicon = Lexicon(lexicon_bytes([], TokenCounts()))
    with closing(
        ElasticsearchEngine(settings, name, passages=len(ANGLES), shards=1, lexicon=lexicon)
    ) as engine:
        yield engine


def test_the_cosine_of_each_passage_that_has_a_vector_is_given(engine):
    asked = ["P-180", "P-30", "P-none", "P-missing", "P-0"]

    found = engine.similarities(direction(0), asked)

    assert found == {
        "P-0": pytest.approx(1.0, abs=1e-6),
        "P-30": pytest.approx(math.sqrt(3) / 2, abs=1e-6),
        "P-180": pytest.approx(-1.0, abs=1e-6),
    }


def test_the_nearest_come_by_cosine(engine):
    found = engine.nearest(direction(80), 2, filters=Filters())

    assert [hit.passage_id for hit in found] == ["P-90", "P-30"]
    assert found[0].score == pytest.approx(math.cos(math.radians(10)), abs=0.01)


def test_vectors_stay_out_of_what_is_read_back_and_outlast_an_update(index, engine):
    settings, name = index
    with client_of(settings) as client:
        assert "vector" not in client.get(index=name, id="P-30")["_source"]
        client.update(index=name, id="P-30", doc={"lang": "ko"}, refresh=True)

    assert engine.similarities(direction(30), ["P-30"]) == {"P-30": pytest.approx(1.0, abs=1e-6)}
