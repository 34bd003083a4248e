"""The embedded engine, for tests of contracts, which tests/service/elasticsearch runs in a cluster."""

import pytest

from indexer.settings import IndexerSettings
from tests.retriever.made_papers import opened


@pytest.fixture(scope="module")
def settings_for():
    return lambda home, **options: IndexerSettings(home=home, workers=1, **options)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index
