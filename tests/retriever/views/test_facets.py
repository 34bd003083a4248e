"""The contract of facets on the embedded engine."""

import pytest

from indexer.settings import IndexerSettings

pytest.register_assert_rewrite("tests.retriever.facets_contract")

from tests.retriever.facets_contract import *  # noqa: E402, F403 - its tests and fixtures


@pytest.fixture(scope="module")
def settings_for():
    return lambda home: IndexerSettings(home=home, workers=1)
