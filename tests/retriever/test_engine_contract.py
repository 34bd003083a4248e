"""The embedded engine keeps what every engine promises."""

import pytest

from indexer.settings import IndexerSettings

pytest.register_assert_rewrite("tests.retriever.engine_contract", "tests.retriever.phrase_contract")

from tests.retriever.engine_contract import *  # noqa: E402, F403 - its tests and fixtures
from tests.retriever.phrase_contract import *  # noqa: E402, F403


@pytest.fixture(scope="module")
def settings_for():
    return lambda home: IndexerSettings(home=home, workers=1)
