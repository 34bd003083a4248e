"""The contract of the citation graph on the embedded engine."""

import pytest

from indexer.settings import IndexerSettings

pytest.register_assert_rewrite("tests.retriever.citations_contract")

from tests.retriever.citations_contract import *  # noqa: E402, F403 - its tests and fixtures


@pytest.fixture(scope="module")
def settings_for():
    return lambda home: IndexerSettings(home=home, workers=1)
