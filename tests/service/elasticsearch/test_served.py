"""Two processes that serve a cluster's indexes: versions come and go under load, and no question fails."""

import pytest

from indexer.settings import IndexerSettings
from tests.server.loading import publish_edition
from tests.server.processes.test_workers import OTHER, assert_editions_are_served
from tests.server.running import serving
from tests.service.elasticsearch.own_prefix import environment_of, own_prefix
from tests.service.elasticsearch.server import Access


@pytest.mark.nightly
def test_no_question_fails_while_versions_come_and_go(elasticsearch: Access, tmp_path):
    with own_prefix(elasticsearch) as make:
        settings: IndexerSettings = make(tmp_path / "home")
        publish_edition(settings, OTHER, 1)
        publish_edition(settings, "beside", 1)
        named = {name.removeprefix("SHRAG_"): value for name, value in environment_of(settings).items()}
        with serving(settings.home, tmp_path / "log", "--workers", "2", **named) as server:
            assert_editions_are_served(server.url, settings)
