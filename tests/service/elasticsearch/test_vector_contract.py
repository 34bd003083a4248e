"""The contract of vectors on a real cluster, and what only a cluster does otherwise."""

import pytest

from indexer.errors import InvalidCall
from indexer.ingest import encode_passages
from tests.retriever.vector_contract import *  # noqa: F403
from tests.retriever.vector_contract import PAPERS, build, with_encoder
from tests.service.elasticsearch.own_prefix import own_prefix


@pytest.fixture
def settings_for(elasticsearch):
    with own_prefix(elasticsearch) as settings_for:
        yield settings_for


def test_another_encoder_needs_a_new_build(settings, server, tmp_path):
    build(settings, PAPERS, tmp_path)
    other = with_encoder(settings, server, model="other-counts")

    with pytest.raises(InvalidCall, match="build it again"):
        encode_passages("papers", other)
