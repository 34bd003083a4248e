"""The contract of vectors on a real cluster, and what only a cluster does otherwise."""

import pytest

from base.errors import InvalidCall
from indexer.ingest import encode_passages
from tests.retriever.vector_contract import *  # noqa: F403
from tests.retriever.vector_contract import PAPERS, build, found, with_encoder, without_encoder
from tests.service.elasticsearch.own_prefix import own_prefix


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
