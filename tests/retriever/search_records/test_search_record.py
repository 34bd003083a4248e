"""A search is written down, run again, and compared."""

import asyncio
import json
import re

import pytest

from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.search_records.record import SearchRecord, search_record
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tests.hostile import call
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever.made_papers import NAME, PAPERS, built


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    folder = built(tmp_path_factory)
    monkeypatch.setenv("SHRAG_HOME", str(folder))
    return folder


def recorded(folder, *arguments):
    """Search with a record, and return its file and what it holds."""
    file = folder / "search.json"
    assert call("search", *arguments, "--name", NAME, "--record", file).code == 0
    return file, json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("method", ["shrag", "or", "paper"])
def test_a_search_that_is_run_again_finds_the_same(tmp_path, method, monkeypatch):
    monkeypatch.setenv("SHRAG_KEYWORDS", "3")
    file, record = recorded(
        tmp_path, "지식 그래프와 hallucination", "--method", method, "-k", "4", "--year", "2019.."
    )
    monkeypatch.delenv("SHRAG_KEYWORDS")

    done = call("rerun", file)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"the same {len(record['hits'])} hit")


@pytest.mark.parametrize("origin", ["model", "person", "statistics"])
def test_a_search_with_a_strategy_is_repeated_with_it(tmp_path, home, origin):
    strategy = Strategy().with_keywords(["환각", "knowledge graph"]).excluding(["trade"])
    strategy = strategy.changed(origin=origin)
    asked = SearchRequest("지식 그래프 -quokka", strategy=strategy, skip=("SQ1",), exclude=("markets",))
    file = tmp_path / "search.json"
    with open_index(IndexerSettings(home=home), NAME) as index:
        result = asyncio.run(search(index, asked, RetrieverSettings()))
        file.write_bytes(search_record(index.manifest, asked, result).as_json())
    record = json.loads(file.read_text(encoding="utf-8"))

    assert record["strategy"]["en"] == ["knowledge graph"]
    assert record["strategy"]["exclude"] == [{"en": "trade"}, {"en": "markets"}]
    assert record["applied"]["strategist"] == origin
    assert [query["name"] for query in record["queries"]][:3] == ["question", "SQ3", "SQ2"]
    done = call("rerun", file, "--json")
    assert (done.code, json.loads(done.out)["changed"]) == (0, [])
    assert SearchRecord.load(file).strategy == result.strategy


def test_papers_that_came_and_went_are_told(tmp_path, monkeypatch):
    other = tmp_path / "home"
    other.mkdir()
    newer = {"id": "NEW", "title": "Axolotl gills", "abstract": "Axolotl limbs and gills.", "year": 2024}
    build(other, write_jsonl(other / "papers.jsonl", [*PAPERS[:8], newer]), NAME)
    file, _ = recorded(tmp_path, "axolotl", "--method", "or")
    monkeypatch.setenv("SHRAG_HOME", str(other))

    shown, told = call("rerun", file), call("rerun", file, "--json")

    assert shown.code == told.code == 1
    assert shown.out.splitlines()[:2] == ["came   NEW  Axolotl gills", "went   DOI-1  Axolotl limbs"]
    record = json.loads(told.out)
    assert record["same"] is False
    assert {change["what"] for change in record["changed"]} == {"index papers", "index passages"}


def test_a_paper_that_moved_is_told_with_its_ranks(tmp_path):
    file, record = recorded(tmp_path, "quokka", "--method", "or", "-k", "3")
    first, second, third = record["hits"]
    record["hits"] = [second, first, third]
    file.write_text(json.dumps(record), encoding="utf-8")

    done = call("rerun", file)

    assert done.code == 1
    assert done.out.splitlines() == ["moved  TIE-0  from 2 to 1", "moved  TIE-1  from 1 to 2"]


def test_a_report_is_markdown_in_the_language_of_the_question_and_quotes_as_text(tmp_path):
    file = tmp_path / "search.md"

    done = call("search", "지식 그래프 | <b>*x*</b>", "--name", NAME, "--record", file)

    assert done.code == 0
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# 검색 기록\n")
    assert r"지식 그래프 \| \<b\>\*x\*\</b\>" in text
    assert "KG-KO" in text


@pytest.mark.parametrize("method", ["shrag", "or", "paper", "boolean"])
@pytest.mark.parametrize("most", ["2", "100"])
def test_the_numbers_of_a_report_add_up(tmp_path, method, most):
    file = tmp_path / "search.md"

    done = call("search", "knowledge graph", "--name", NAME, "--method", method, "-k", most, "--record", file)

    assert done.code == 0
    rows = re.findall(r"^\| 1[56] \| ([^|]*) \| ([\d,]+) \|$", file.read_text("utf-8"), re.MULTILINE)
    numbers = {name: int(number.replace(",", "")) for name, number in rows}
    listed = numbers.pop("Papers listed")
    assert 0 < listed <= int(most)
    assert sum(-each if name.startswith("Left out") else each for name, each in numbers.items()) == listed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no record"),
        (b'{"search_record": 2}', "search_record"),
        (b'{"search_record": 1}', "date"),
        (b"\xff\xfe", "not JSON"),
        (b" " * 16_000_001, "larger"),
    ],
)
def test_what_is_no_record_is_refused_in_one_line(tmp_path, content, message):
    file = tmp_path / "search.json"
    file.write_bytes(content)

    done = call("rerun", file)

    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


CHANGES = [
    ("request", "question", 1),
    ("request", "question", "x" * 20_001),
    ("request", "k", -1),
    ("request", "filters", {"years": {"low": 1 << 70, "high": None}}),
    ("request", "keywords", ["a"] * 51),
    ("request", "exclude", ["x" * 999]),
    ("request", "strategy", {"en": 1}),
    ("applied", "title_weight", 1e300),
    ("applied", "keyword_count", "many"),
    ("index", "name", "../x"),
    ("index", "fingerprint", []),
]


@pytest.mark.parametrize(("part", "key", "value"), CHANGES)
def test_a_record_of_a_search_that_cannot_be_run_is_refused_in_one_line(tmp_path, part, key, value):
    file, record = recorded(tmp_path, "quokka", "--method", "or", "-k", "2")
    record[part][key] = value
    file.write_text(json.dumps(record), encoding="utf-8")

    done = call("rerun", file)

    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
