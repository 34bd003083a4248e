"""The contract of a paper's page on the embedded engine."""

import pytest

from indexer.settings import IndexerSettings

pytest.register_assert_rewrite("tests.retriever.paper_page_contract")

from tests.retriever.paper_page_contract import *  # noqa: E402, F403 - its tests and fixtures


@pytest.fixture(scope="module")
def settings_for():
    return lambda home: IndexerSettings(home=home, workers=1)
