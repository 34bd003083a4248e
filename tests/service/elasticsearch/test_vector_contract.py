"""The contract of vectors on a real cluster, and what only a cluster does otherwise."""

import math
from contextlib import closing

import numpy as np
import pytest

from base.errors import InvalidCall
from indexer.forward.lexicon import Lexicon, TokenCounts, lexicon_bytes
from indexer.ingest import encode_passages
from indexer.versions.cluster.documents import index_body, index_of, vector_field
from retriever.engines.elasticsearch import ElasticsearchEngine
from retriever.queries.filters import Filters
from tests.retriever.vector_contract import *  # noqa: F403
from tests.retriever.vector_contract import PAPERS, build, found, with_encoder, without_encoder
from tests.service.elasticsearch.cluster import client_of, own_prefix


@pytest.fixture
def settings_for(elasticsearch):
    """Do not wait until deleted passages count no more: vectors do not hang on that."""
    with own_prefix(elasticsearch) as settings_for:
        yield lambda home: settings_for(home, cluster={"settle_s": 0.0})


def test_vectors_added_later_leave_the_scores_of_words_as_they_were(elasticsearch, server, tmp_path):
    with own_prefix(elasticsearch) as settings_for:
        settings = with_encoder(settings_for(tmp_path), server)
        build(without_encoder(settings), PAPERS, tmp_path)
        before = found(settings, "axolotl", method="or").hits
        encode_passages("papers", settings)
        after = found(settings, "axolotl", method="or").hits

    assert [(hit.passage_id, hit.score) for hit in after] == [(hit.passage_id, hit.score) for hit in before]


def test_another_encoder_needs_a_new_build(settings, server, tmp_path):
    build(settings, PAPERS, tmp_path)
    other = with_encoder(settings, server, model="other-counts")

    with pytest.raises(InvalidCall, match="build it again"):
        encode_passages("papers", other)


# Angles to (1, 0), in degrees; the last passage has no vector.
ANGLES = {"P-0": 0, "P-30": 30, "P-90": 90, "P-180": 180, "P-none": None}


def direction(angle):
    return np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))], np.float32)


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_vectors_are_compared_stay_out_of_what_is_read_and_outlast_an_update(settings_for, tmp_path, kind):
    settings = settings_for(tmp_path).elasticsearch
    index = index_of(settings.prefix, f"vectors-{kind}", 1)
    lexicon = Lexicon(lexicon_bytes([], TokenCounts()))
    body = index_body("english", "none", shards=1, meta={})
    body["mappings"]["properties"]["vector"] = vector_field(2, index=kind)
    with (
        client_of(settings) as client,
        closing(
            ElasticsearchEngine(settings, index, passages=len(ANGLES), shards=1, lexicon=lexicon)
        ) as engine,
    ):
        client.indices.create(index=index, **body)
        for number, (name, angle) in enumerate(ANGLES.items()):
            vector = {} if angle is None else {"vector": direction(angle).tolist()}
            document = {"passage_id": name, "doc_id": name, "lang": "en", "sequence": number} | vector
            client.index(index=index, id=name, document=document)
        client.update(index=index, id="P-30", doc={"lang": "ko"}, refresh=True)

        assert engine.similarities(direction(0), ["P-180", "P-30", "P-none", "P-missing", "P-0"]) == {
            "P-0": pytest.approx(1.0, abs=1e-6),
            "P-30": pytest.approx(math.sqrt(3) / 2, abs=1e-6),
            "P-180": pytest.approx(-1.0, abs=1e-6),
        }
        first, second = engine.nearest(direction(80), 2, filters=Filters())
        assert (first.passage_id, second.passage_id) == ("P-90", "P-30")
        assert first.score == pytest.approx(math.cos(math.radians(10)), abs=0.01)
        assert "vector" not in client.get(index=index, id="P-30")["_source"]
