"""The contract of searches for passages on a real cluster."""

import pytest

from tests.service.elasticsearch.own_prefix import own_prefix

pytest.register_assert_rewrite("tests.retriever.passage_search_contract")

from tests.retriever.passage_search_contract import *  # noqa: E402, F403 - its tests and fixtures


@pytest.fixture(scope="module")
def settings_for(elasticsearch):
    with own_prefix(elasticsearch) as settings_for:
        yield settings_for
