"""The contract of searches for passages on the embedded engine."""

import pytest

from indexer.settings import IndexerSettings

pytest.register_assert_rewrite("tests.retriever.passage_search_contract")

from tests.retriever.passage_search_contract import *  # noqa: E402, F403 - its tests and fixtures


@pytest.fixture(scope="module")
def settings_for():
    return lambda home, **options: IndexerSettings(home=home, workers=1, **options)
