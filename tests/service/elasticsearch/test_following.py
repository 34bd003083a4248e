"""An open index while versions are published in a cluster, which holds no version for a reader."""

import pytest

from indexer.errors import VersionGone
from indexer.settings import IndexerSettings
from indexer.versions.cluster.documents import version_of
from retriever.index import open_index
from tests.retriever.following_contract import *  # noqa: F403
from tests.retriever.following_contract import NAME, answered, publish
from tests.service.elasticsearch.cluster import client_of, own_prefix
from tests.service.elasticsearch.server import Access


@pytest.fixture
def settings_for(elasticsearch: Access):
    with own_prefix(elasticsearch) as make:
        yield make


@pytest.fixture
def spoil():
    def edit(settings: IndexerSettings, version: int) -> None:
        index = f"{settings.elasticsearch.prefix}-{NAME}@{version:06}"
        with client_of(settings.elasticsearch) as client:
            meta = client.indices.get_mapping(index=index)[index]["mappings"]["_meta"]
            meta["manifest"]["fingerprint"]["tokens"] = "others"
            client.indices.put_mapping(index=index, meta=meta)

    return edit


@pytest.fixture
def remains():
    def numbers(settings: IndexerSettings) -> list[int]:
        alias = f"{settings.elasticsearch.prefix}-{NAME}"
        with client_of(settings.elasticsearch) as client:
            found = client.indices.get(index=f"{alias}@*")
        return sorted(version for index in found if (version := version_of(index, alias)))

    return numbers


# In a folder a reader holds its version; here it is told that the version is gone.
def test_an_index_that_stays_answers_from_its_version_until_it_is_closed(  # type: ignore[no-redef]
    settings, remains
):
    with open_index(settings, NAME) as index:
        assert answered(index) == 1
        publish(settings, 2)
        with pytest.raises(VersionGone, match="replaced"):
            answered(index)
    assert remains(settings) == [2]


def test_a_version_whose_passages_are_read_stays_until_the_last(settings, remains):
    publish(settings.model_copy(update={"keep_versions": 2}), 2)
    assert remains(settings) == [1, 2]
