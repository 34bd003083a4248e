"""A search is written down, run again, and compared."""

import asyncio
import json
import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.search_records.record import SearchRecord, search_record
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tests.hostile import TEXTS, VALUES, call
from tests.indexer.made_corpora import build, command, environment_of, write_jsonl
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


def test_keywords_that_were_given_are_searched_for_again(tmp_path):
    file, record = recorded(tmp_path, "지식 그래프", "--keyword", "knowledge graph", "--keyword", "환각")

    assert (record["strategy"]["ko"], record["strategy"]["en"]) == (["환각"], ["knowledge graph"])
    assert record["applied"]["strategist"] == "person"
    assert call("rerun", file).code == 0


def test_a_record_holds_what_a_review_reports(tmp_path):
    _, record = recorded(tmp_path, "axolotl limbs", "--method", "or", "--lang", "en", "-k", "5")

    assert record["search_record"] == 1
    assert record["date"].endswith("Z")
    assert (record["index"]["name"], record["index"]["version"]) == (NAME, 1)
    assert record["index"]["fingerprint"]["analyzer"] == "bilingual"
    assert (record["request"]["question"], record["request"]["k"]) == ("axolotl limbs", 5)
    assert record["request"]["filters"]["lang"] == "en"
    assert record["queries"][0]["hits"] == 2
    assert record["filtered"] == {"incomplete": 0, "duplicates": 1}
    assert [(hit["rank"], hit["doc_id"]) for hit in record["hits"]] == [(1, "DOI-1"), (2, "BARE")]
    assert record["applied"]["method"] == "or"


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


def test_files_that_cannot_be_a_record_are_refused(tmp_path):
    assert "no file" in call("rerun", tmp_path / "none.json").err
    assert call("rerun", tmp_path).code == 2
    assert call("search", "quokka", "--name", NAME, "--record", tmp_path / "search.txt").code == 2


def test_a_record_never_takes_the_place_of_the_export(tmp_path):
    file, link = tmp_path / "one.json", tmp_path / "link.json"
    link.symlink_to(file)

    done = call("search", "quokka", "--name", NAME, "--export", "jsonl", "--out", link, "--record", file)

    assert (done.code, file.exists()) == (2, False)
    assert "--out and --record" in done.err


def test_a_record_is_saved_whole_though_nobody_reads_the_result_on(tmp_path, home):
    file = tmp_path / "record.json"
    reading, writing = os.pipe()
    os.close(reading)
    arguments = command("search", "quokka", "--name", NAME, "-k", "2", "--record", file)
    with os.fdopen(writing, "wb") as nobody:
        subprocess.run(
            arguments,
            env=environment_of(home),
            stdout=nobody,
            stderr=subprocess.PIPE,
            check=False,
            timeout=120,
        )

    assert len(json.loads(file.read_text(encoding="utf-8"))["hits"]) == 2


CHANGES = [
    ("request", "question", 1),
    ("request", "question", "x" * 20_001),
    ("request", "k", -1),
    ("request", "k", 1 << 70),
    ("request", "method", "none"),
    ("request", "filters", {"years": {"low": 1 << 70, "high": None}}),
    ("request", "filters", {"doc_ids": {}}),
    ("request", "keywords", ["a"] * 51),
    ("request", "keywords", [{"text": "a"}]),
    ("request", "exclude", ["x" * 999]),
    ("request", "strategy", {"en": 1}),
    ("applied", "title_weight", 1e300),
    ("applied", "keyword_count", "many"),
    ("applied", "keyword_count", 10**30),
    ("applied", "without", [["a"]]),
    ("index", "name", "../x"),
    ("index", "name", ""),
    ("index", "fingerprint", []),
]


@pytest.mark.parametrize(("part", "key", "value"), CHANGES)
def test_a_record_of_a_search_that_cannot_be_run_is_refused_in_one_line(tmp_path, part, key, value):
    file, record = recorded(tmp_path, "quokka", "--method", "or", "-k", "2")
    record[part][key] = value
    file.write_text(json.dumps(record), encoding="utf-8")

    done = call("rerun", file)

    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(place=st.integers(0, 1_000), value=st.sampled_from(VALUES) | TEXTS, remove=st.booleans())
def test_whatever_a_file_holds_it_is_run_again_or_refused(recorded_search, tmp_path, place, value, remove):
    record = json.loads(recorded_search)
    spots = list(_spots(record))
    holder, key = spots[place % len(spots)]
    if remove:
        del holder[key]
    else:
        holder[key] = value
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(record), encoding="utf-8")

    call("rerun", file)  # asserts that it ends well


@pytest.fixture(scope="module")
def recorded_search(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHRAG_HOME", str(built(tmp_path_factory)))
        options = ("--year", "2015..", "--exclude", "trade", "--keyword", "quokka", "--keyword", "islands")
        return json.dumps(recorded(folder, "quokka islands", "-k", "3", *options)[1])


def _spots(value):
    """Yield every place of a JSON value, as its holder and key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _spots(value[key])
