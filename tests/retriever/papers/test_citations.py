"""The contract of the citation graph on the embedded engine, and versions that have none."""

from dataclasses import replace

import pytest

from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import CITATIONS
from indexer.versions.store.folder import FolderStore
from retriever.index import open_index

pytest.register_assert_rewrite("tests.retriever.citations_contract")

from tests.retriever.citations_contract import *  # noqa: E402, F403 - its tests and fixtures
from tests.retriever.citations_contract import MORE, NAME, PAPERS, index_more, links  # noqa: E402
from tests.retriever.made_papers import indexed  # noqa: E402


@pytest.fixture(scope="module")
def settings_for():
    return lambda home: IndexerSettings(home=home, workers=1)


def test_a_version_of_an_earlier_release_opens_and_the_next_one_has_a_graph(tmp_path, settings_for):
    settings = settings_for(tmp_path)
    indexed(settings, PAPERS, NAME).close()
    store = FolderStore(settings.home, NAME)
    manifest = store.manifest()
    store.companion_path(manifest, CITATIONS).unlink()
    files = {name: found for name, found in manifest.files.items() if name != CITATIONS}
    replace(manifest, citations={}, files=files).write(store.version_path(1))

    assert "citations" not in (store.version_path(1) / "manifest.json").read_text(encoding="utf-8")
    assert store.verify_files(1) == []
    with open_index(settings, NAME) as index:
        assert links(index)[0]["SURVEY"] == ["OLD", "NEW"]
    index_more(settings, NAME, MORE)
    with open_index(settings, NAME) as index:
        assert links(index)[0]["NEW"] == ["OLD"]
    assert [store.verify_files(version) for version in (1, 2)] == [[], []]
