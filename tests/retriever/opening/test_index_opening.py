"""Opening an index: what is refused, and with what next step."""

import shutil

import pytest

from base.remedies import describe_error
from indexer.errors import IndexClosed, IndexDamaged, IndexMismatch, UnknownIndex
from indexer.settings import IndexerSettings
from retriever.index import open_index
from tests.indexer.made_corpora import edit_manifest
from tests.retriever.made_papers import NAME, built, found, ids, opened


@pytest.fixture
def home(tmp_path_factory, tmp_path):
    """Return a copy of the index for the test to spoil."""
    return shutil.copytree(built(tmp_path_factory), tmp_path / "home")


def version(home):
    return home / NAME / "versions" / "000001"


def test_an_unknown_index_names_those_that_there_are_and_the_next_step(home):
    with pytest.raises(UnknownIndex, match=rf"'none' in .*; name an existing one \({NAME}\), or make it"):
        open_index(IndexerSettings(home=home), "none")


def test_another_fingerprint_is_refused_with_what_differs(home):
    edit_manifest(version(home), fingerprint={"tantivy": "0.1.0"})

    with pytest.raises(IndexMismatch, match=r"tantivy: 0\.1\.0, now .*; upgrade it, or build it again"):
        open_index(IndexerSettings(home=home), NAME)


@pytest.mark.parametrize("text", ["", "{", "[]", "\udcff"])
def test_a_manifest_that_cannot_be_read_is_damage(home, text):
    (version(home) / "manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(IndexDamaged, match="manifest"):
        open_index(IndexerSettings(home=home), NAME)


@pytest.mark.parametrize("name", ["tantivy", "tantivy/meta.json"])
def test_a_missing_part_is_damage_with_the_way_back(home, name):
    path = version(home) / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    with pytest.raises(IndexDamaged) as damage:
        open_index(IndexerSettings(home=home), NAME)

    assert str(damage.value).startswith("index 'papers', version 1: tantivy/")
    assert describe_error(damage.value).endswith(
        "is missing; build it again (shrag index PATH --name papers --rebuild), or roll back to the "
        "previous version (shrag indexes rollback papers)"
    )


@pytest.mark.parametrize("suffix", ["term", "idx", "pos", "fast", "fieldnorm", "store"])
def test_a_missing_segment_file_is_damage(home, suffix):
    for path in (version(home) / "tantivy").glob(f"*.{suffix}"):
        path.unlink()

    with pytest.raises(IndexDamaged, match=rf"\.{suffix} is missing"):
        open_index(IndexerSettings(home=home), NAME)


def test_a_broken_glossary_is_damage(home):
    (version(home) / "glossary.sqlite").write_bytes(b"not a database at all" * 100)

    with pytest.raises(IndexDamaged), open_index(IndexerSettings(home=home), NAME) as index:
        ids(index, "환각")


def test_a_search_of_a_closed_index_says_that_it_is_closed(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        pass

    with pytest.raises(IndexClosed, match="open it again"):
        found(index, "graph retrieval")
