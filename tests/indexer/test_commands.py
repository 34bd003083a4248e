"""The commands that make and keep indexes, as they are called."""

import json

import pytest
from click.testing import CliRunner

from indexer.commands import analyze, index
from indexer.errors import UnknownIndex
from indexer.index_commands import indexes
from tests.indexer.made_corpora import paper, write_jsonl


@pytest.fixture
def call(monkeypatch):
    monkeypatch.setenv("SHRAG_WORKERS", "1")

    def run(command, *arguments, **options):
        result = CliRunner().invoke(command, [str(one) for one in arguments], **options)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def corpus(tmp_path):
    return write_jsonl(tmp_path / "corpus.jsonl", [paper(number) for number in range(1, 5)])


def test_index_as_json(call, corpus):
    record = json.loads(call(index, corpus, "--name", "x", "--json").stdout)

    assert {
        key: record[key] for key in ("name", "version", "engine", "papers", "passages", "dead_letters")
    } == {
        "name": "x",
        "version": 1,
        "engine": "tantivy",
        "papers": 4,
        "passages": 4,
        "dead_letters": [],
    }
    assert record["counts"]["records"] == 4


def test_an_unchanged_corpus_is_reported_and_not_read_again(call, corpus):
    call(index, corpus, "--name", "x")

    told = call(index, corpus, "--name", "x").stdout
    record = json.loads(call(index, corpus, "--name", "x", "--json").stdout)

    assert told.startswith(
        "index 'x', version 1 (nothing changed): 4 passages of 4 papers, 0 records read in "
    )
    assert "  files: 0 new, 0 changed, 1 unchanged, not read\n" in told
    assert (record["version"], record["is_published"], record["files"]["unchanged"]) == (1, False, 1)


def test_verify_tells_which_versions_are_whole(call, corpus):
    from indexer.settings import IndexerSettings

    for version in range(2):
        write_jsonl(corpus, [paper(1, version=version)])
        call(index, corpus, "--name", "x")
    assert call(indexes, "verify", "x").stdout.count("intact") == 2

    folder = IndexerSettings().home / "x"
    (folder / "versions" / "000001" / "glossary.sqlite").unlink()
    (folder / "versions" / "000002" / "lexicon.bin").write_bytes(b"")
    sources = folder / "sources.bin"
    sources.write_bytes(sources.read_bytes().replace(b"version", b"versioo"))
    result = CliRunner().invoke(indexes, ["verify", "x", "--json"])
    differing = [
        [line.split()[0] for line in one["differs"]] for one in json.loads(result.stdout)["versions"]
    ]
    assert differing == [["glossary.sqlite"], ["lexicon.bin", "sources.bin"]]
    assert "(1, 2)" in str(result.exception)


def test_delete_asks_first(call, corpus):
    call(index, corpus, "--name", "x")

    assert call(indexes, "delete", "x", input="n\n").exit_code == 1
    assert call(indexes, "delete", "x", "--yes").exit_code == 0
    with pytest.raises(UnknownIndex):
        call(indexes, "show", "x")


def test_analyze_turns_lines_into_tokens(call):
    result = call(analyze, "--analyzer", "english", input='{"text": " The rice paddies"}\n\n{"text": ""}\n')

    assert [json.loads(line) for line in result.output.splitlines()] == [
        {"tokens": [["rice", 1, 5, 9], ["paddi", 2, 10, 17]]},
        {"tokens": []},
    ]


@pytest.mark.parametrize("line", ["{", '{"txt": "a"}', '{"text": 3}', '{"text": "\\ud800"}'])
def test_analyze_names_the_line_that_it_cannot_read(call, line):
    result = call(analyze, input=f'{{"text": "a"}}\n{line}\n')

    assert result.exit_code == 2
    assert "line 2" in result.stderr


def test_export_writes_the_passages_as_stored_in_corpus_order(call, corpus, tmp_path):
    call(index, corpus, "--name", "x")
    out = tmp_path / "passages.jsonl"

    assert call(indexes, "export", "x", "--out", str(out)).exit_code == 0
    exported = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]

    assert [passage["passage_id"] for passage in exported] == ["P00001", "P00002", "P00003", "P00004"]
    assert call(indexes, "export", "x").stdout == out.read_text(encoding="utf-8")
