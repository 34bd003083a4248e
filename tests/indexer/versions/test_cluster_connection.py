"""The loop of a cluster's client, which needs no server to begin and to end."""

import asyncio
import gc
from concurrent.futures import CancelledError

import pytest

from indexer.settings import ElasticsearchSettings
from indexer.versions.cluster.connection import Cluster


def test_what_is_under_way_when_it_is_closed_is_given_up_without_a_word(caplog):
    with Cluster(ElasticsearchSettings()) as cluster:
        waiting = cluster.start(asyncio.sleep(600))
    gc.collect()

    with pytest.raises(CancelledError):
        waiting.result(timeout=240)
    assert caplog.text == ""


def test_it_may_be_closed_twice():
    cluster = Cluster(ElasticsearchSettings())
    cluster.close()
    cluster.close()
    assert cluster._loop.is_closed()
