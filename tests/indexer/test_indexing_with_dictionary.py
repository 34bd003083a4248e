"""A user's dictionary on its way into an index and out again."""

import json

import pytest
from click.testing import CliRunner

from base.errors import InvalidCall, Remedy
from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.commands import analyze, index
from indexer.index_commands import indexes
from indexer.ingest import remove_records
from indexer.settings import IndexerSettings
from retriever.index import open_index
from tests.indexer.made_corpora import build, write_jsonl
from tests.refusals import refusal

TERMS = parse_user_dictionary("지식그래프연구회 지식그래프 연구회\n".encode(), "terms.txt")
OTHER = parse_user_dictionary("지식그래프연구회\n".encode(), "terms.txt")
PAPERS = [
    {"id": "A", "title": "지식그래프연구회의 활동", "abstract": "지식그래프연구회에서 논문을 읽었다."},
    {"id": "B", "title": "벼의 생육", "abstract": "논에 물을 대었다."},
]


@pytest.fixture
def corpus(tmp_path):
    return write_jsonl(tmp_path / "corpus.jsonl", PAPERS)


def tokens(home, text):
    with open_index(IndexerSettings(home=home), "papers") as opened:
        return [token[0] for token in opened.analyzer.analyze(text)]


def test_an_index_is_searched_with_the_dictionary_it_was_built_with(home, corpus):
    manifest = build(home, corpus, dictionary=TERMS).manifest

    assert tokens(home, "지식그래프연구회") == ["지식그래프", "연구회"]
    assert manifest.dictionary == manifest.fingerprint["dictionary"] == TERMS.hash


def test_another_dictionary_needs_a_rebuild(home, corpus):
    build(home, corpus, dictionary=TERMS)

    with refusal(InvalidCall, "dictionary", remedies=Remedy.REBUILD):
        build(home, corpus, dictionary=OTHER)
    build(home, corpus, dictionary=OTHER, rebuild=True)
    assert tokens(home, "지식그래프연구회") == ["지식그래프연구회"]


def test_the_commands_take_a_file(corpus, tmp_path):
    file = tmp_path / "terms.txt"
    file.write_text(TERMS.text(), encoding="utf-8")

    runner = CliRunner()
    arguments = [str(corpus), "--name", "papers", "--dictionary", str(file), "--workers", "1"]
    assert runner.invoke(index, arguments).exit_code == 0
    shown = json.loads(runner.invoke(indexes, ["show", "papers", "--json"]).stdout)
    analysed = runner.invoke(
        analyze, ["--dictionary", str(file)], input=json.dumps({"text": "지식그래프연구회는"})
    )

    assert shown["dictionary"] == 1
    assert json.loads(analysed.stdout)["tokens"] == [["지식그래프", 0, 0, 5], ["연구회", 1, 5, 8]]


def test_removing_and_a_later_build_without_a_dictionary_keep_it(home, corpus, tmp_path):
    build(home, corpus, dictionary=TERMS)
    remove_records("papers", ["B"], IndexerSettings(home=home))
    build(home, write_jsonl(tmp_path / "more.jsonl", [PAPERS[1] | {"id": "C"}]))

    assert tokens(home, "지식그래프연구회") == ["지식그래프", "연구회"]
