"""`shrag search`, `explain` and `citations` as people and scripts call them."""

import json
import subprocess

import pytest
from click.testing import CliRunner

from indexer.settings import IndexerSettings
from retriever.citation_commands import citations
from retriever.index import open_index
from retriever.strategy import Strategy
from tests.generator.sample_index import shrag
from tests.indexer.made_corpora import command, environment_of
from tests.retriever.made_papers import NAME, built, found, indexed
from tests.retriever.papers.test_citations import PAPERS

CONTRACT_KEYS = {"question", "method", "keywords", "queries", "hits", "filtered", "milliseconds"}
HIT_KEYS = {"rank", "passage_id", "doc_id", "score", "title", "year", "snippet", "found_by", "found_by_names"}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return built(tmp_path_factory)


def search(home, *arguments, name=NAME):
    return shrag("search", *arguments, "--name", name, home=home)


def test_json_has_the_contracts_keys(home):
    done = search(home, "비선형 회귀와 지식 그래프", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert record.keys() >= CONTRACT_KEYS
    assert all(keyword.keys() >= {"text", "language", "weight"} for keyword in record["keywords"])
    assert all(query.keys() >= {"name", "query", "hits", "added"} for query in record["queries"])
    assert all(hit.keys() >= HIT_KEYS for hit in record["hits"])
    assert record["filtered"] == {"incomplete": 0, "duplicates": 0}
    assert record["milliseconds"]["total"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["axolotl", "--year", "19"], "is no year"),
        (["axolotl", "--lang", "xx"], "is no language"),
        (["axolotl", "--method", "bm25"], "'boolean', 'dense', 'or', 'paper', 'shrag'"),
        (["axolotl", "-k", "0"], "-k"),
    ],
)
def test_a_wrong_call_exits_with_2_and_says_why(home, arguments, message):
    done = search(home, *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_strategy_as_json_in_a_file_gives_the_hits_of_the_python_call(home, tmp_path):
    strategy = Strategy(
        en=("pangolin", "trade"),
        ko=("천산갑", "거래"),
        exclude=({"en": "wildlife", "ko": "야생동물"},),
        years=(2010, None),
        steps=("Where are pangolins traded?",),
        origin="model",
    )
    file = tmp_path / "strategy.json"
    file.write_text(json.dumps(strategy.as_record(), ensure_ascii=False), encoding="utf-8")

    record = json.loads(search(home, "axolotl limbs", "--strategy", str(file), "--json").stdout)

    with open_index(IndexerSettings(home=home), NAME) as index:
        result = found(index, "axolotl limbs", strategy=strategy)
    assert record | {"milliseconds": {}} == json.loads(json.dumps(result.as_record())) | {"milliseconds": {}}
    assert record["strategy"] == strategy.as_record()
    assert record["hits"][0]["doc_id"] == "TITLED"


def test_references_are_written_to_standard_output_or_to_a_file(home, tmp_path):
    file = tmp_path / "hits.ris"

    call = command("search", "quokka", "-k", "3", "--export", "ris", "--name", NAME)
    shown = subprocess.run(call, env=environment_of(home), stdout=subprocess.PIPE, check=True)
    done = search(home, "quokka", "-k", "3", "--export", "ris", "--out", str(file))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"3 references written to {file}\n")
    assert shown.stdout == file.read_bytes()
    assert file.read_text(encoding="utf-8").count("AB  - Quokka counts.") == 3


@pytest.mark.parametrize(
    "options",
    [
        ["--export", "ris", "--json"],
        ["--out", "x"],
        ["--export", "pdf"],
        ["--cite", "apa", "--export", "ris"],
        ["--cite", "apa", "--json"],
        ["--cite", "harvard"],
        ["--cite", "apa", "--out", "references.ris"],
    ],
)
def test_export_does_not_go_with_everything(home, options):
    done = search(home, "quokka", *options)

    assert (done.returncode, done.stdout) == (2, "")


pytest.register_assert_rewrite("tests.retriever.papers.test_citations")


@pytest.fixture
def call(tmp_path, monkeypatch):
    indexed(IndexerSettings(home=tmp_path, workers=1), PAPERS).close()
    monkeypatch.setenv("SHRAG_HOME", str(tmp_path))

    def call(command, *arguments):
        return CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)

    return call


def test_both_directions_are_told(call):
    answer = json.loads(call(citations, "NEW", "none", "OLD", "--json").stdout)

    assert (answer["name"], answer["version"], answer["absent"]) == ("papers", 1, ["none"])
    new, old = answer["papers"]
    assert (new["doc_id"], new["title"]) == ("NEW", "Walrus haulouts")
    assert [paper["doc_id"] for paper in new["cites"]] == ["SURVEY", "OLD"]
    assert new["unknown"] == ["A book that nobody has, 1950."]
    assert (new["reference_count"], new["cites_count"], new["citing_count"]) == (3, 2, 1)
    assert [paper["doc_id"] for paper in new["cited_by"]] == ["SURVEY"]
    assert (old["cites"], old["citing_count"]) == ([], 2)
