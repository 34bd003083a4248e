"""The embedded engine, for tests of contracts, which tests/service/elasticsearch runs in a cluster."""

import pytest

from indexer.settings import IndexerSettings


@pytest.fixture(scope="module")
def settings_for():
    """Return a function that makes settings for a home."""
    return lambda home, **options: IndexerSettings(home=home, workers=1, **options)
