"""The commands that make and keep indexes, as they are called."""

import json

import pytest
from click.testing import CliRunner

from indexer.commands import analyze, index
from indexer.errors import UnknownIndex
from indexer.index_commands import indexes
from indexer.versions.store.folder import FolderStore
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


@pytest.mark.parametrize(("with_abstract", "is_noted"), [(1, True), (2, False), (4, False)])
def test_a_catalogue_without_abstracts_is_noted_with_the_setting_that_keeps_its_papers(
    call, tmp_path, with_abstract, is_noted
):
    records = [paper(number) for number in range(4)]
    for record in records[with_abstract:]:
        del record["abstract"]

    result = call(index, write_jsonl(tmp_path / "corpus.jsonl", records), "--name", "x")

    assert ("SHRAG_DROP_INCOMPLETE=false" in result.stderr) is is_noted


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


def test_list_as_json_has_every_index(call, corpus):
    assert json.loads(call(indexes, "list", "--json").stdout) == {"indexes": []}
    for name in ("b", "a"):
        call(index, corpus, "--name", name)

    listed = json.loads(call(indexes, "list", "--json").stdout)["indexes"]

    assert [(one["name"], one["version"], one["papers"], one["passages"]) for one in listed] == [
        ("a", 1, 4, 4),
        ("b", 1, 4, 4),
    ]
    assert all({"engine", "published"} <= one.keys() for one in listed)


def test_a_damaged_index_does_not_hide_the_others(call, corpus):
    from indexer.settings import IndexerSettings

    for name in ("a", "b"):
        call(index, corpus, "--name", name)
    (IndexerSettings().home / "a" / "versions" / "000001" / "manifest.json").unlink()

    result = call(indexes, "list", "--json")

    damaged, whole = json.loads(result.stdout)["indexes"]
    assert (damaged["name"], damaged["version"], whole["name"]) == ("a", None, "b")
    assert damaged["error"].startswith("IndexDamaged: ")
    assert result.stderr.strip() == damaged["error"]
    assert "IndexDamaged" in call(indexes, "list").stdout


def test_verify_tells_which_versions_are_whole(call, corpus):
    from indexer.settings import IndexerSettings

    for version in range(2):
        write_jsonl(corpus, [paper(1, version=version)])
        call(index, corpus, "--name", "x")
    assert call(indexes, "verify", "x").stdout.count("intact") == 2

    folder = IndexerSettings().home / "x"
    (folder / "versions" / "000001" / "glossary.sqlite").unlink()
    (folder / "versions" / "000002" / "more").touch()
    (folder / "sources.bin").write_bytes(
        (folder / "sources.bin").read_bytes().replace(b"version", b"versioo")
    )
    result = CliRunner().invoke(indexes, ["verify", "x", "--json"])
    differing = [
        [line.split()[0] for line in one["differs"]] for one in json.loads(result.stdout)["versions"]
    ]
    assert differing == [["glossary.sqlite"], ["more", "sources.bin"]]
    assert "(1, 2)" in str(result.exception)


def test_versions_are_verified_where_nothing_says_which_answers(call, corpus):
    from indexer.settings import IndexerSettings

    call(index, corpus, "--name", "x")
    (IndexerSettings().home / "x" / "CURRENT").unlink()

    result = CliRunner().invoke(indexes, ["verify", "x"])
    assert result.stdout == "index 'x', version 1: intact\n"
    assert "CURRENT is missing" in str(result.exception)
    assert "version 1" in call(indexes, "rollback", "x", "1").output
    assert call(indexes, "verify", "x").exit_code == 0


def test_show_tells_what_an_index_is_made_of(call, corpus):
    call(index, corpus, "--name", "x")
    write_jsonl(corpus, [paper(number, version=1) for number in range(1, 5)])
    call(index, corpus, "--name", "x")

    shown = call(indexes, "show", "x").output
    record = json.loads(call(indexes, "show", "x", "--json").stdout)

    assert "4 passages of 4 papers" in shown
    assert "4 records replaced" in shown
    assert (record["versions"], record["analyzer"], record["unfinished"]) == ([1, 2], "bilingual", False)


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


def test_an_export_that_a_newer_version_overtakes_writes_that_one(call, corpus, monkeypatch):
    def overtaken(store):
        manifest = read(store)
        if manifest.version == 1:
            call(index, corpus, "--name", "x", "--rebuild")
        return manifest

    monkeypatch.setenv("SHRAG_KEEP_VERSIONS", "1")
    call(index, corpus, "--name", "x")
    read = FolderStore.manifest
    monkeypatch.setattr(FolderStore, "manifest", overtaken)

    assert call(indexes, "export", "x").stdout.count("\n") == 4


def glossary_of(name):
    return json.loads(CliRunner().invoke(indexes, ["show", name, "--json"]).stdout)["glossary"]


def test_an_index_has_the_general_glossary_unless_it_is_left_out(call, corpus, monkeypatch):
    said = call(index, corpus, "--name", "x").output

    general = glossary_of("x")["general"]
    assert f"{general:,} general" in said
    assert general > 0

    monkeypatch.setenv("SHRAG_GENERAL_GLOSSARY", "false")
    call(index, corpus, "--name", "y")

    assert glossary_of("y") == {"corpus": 0, "user": 0, "general": 0}


def test_a_file_of_pairs_stays_with_the_index_until_another_takes_its_place(call, corpus, tmp_path):
    first, second = tmp_path / "first.tsv", tmp_path / "second.tsv"
    first.write_text("주석\ttin\t<\n지식 그래프\tknowledge graph\n", encoding="utf-8")
    second.write_text("납\tlead\n납\tlead\t>\n납\tlead\t<\n", encoding="utf-8")
    call(index, corpus, "--name", "x", "--glossary", first)
    more = write_jsonl(tmp_path / "more.jsonl", [paper(9)])

    call(index, more, "--name", "x")
    assert glossary_of("x")["user"] == 2
    call(indexes, "remove", "x", "P00009")
    assert glossary_of("x")["user"] == 2
    call(index, more, "--name", "x", "--glossary", second)
    assert glossary_of("x")["user"] == 1
    call(index, more, "--name", "x", "--rebuild")
    assert glossary_of("x")["user"] == 0
