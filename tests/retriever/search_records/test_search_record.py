"""A search is written down, run again, and compared; new papers of saved searches."""

import json
import re

import pytest

from tests.hostile import call
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever.made_papers import NAME, PAPERS, built


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    folder = built(tmp_path_factory)
    monkeypatch.setenv("SHRAG_HOME", str(folder))
    return folder


def recorded(folder, *arguments):
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
        (b"[]", "no record"),
        (b'{"search_record": 2}', "no record"),
        (b'{"search_record": 1}', "no complete record"),
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
    ("request", "filters", {"years": {"low": 1 << 70, "high": None}}),
    ("request", "keywords", ["a"] * 51),
    ("request", "strategy", {"en": 1}),
    ("applied", "title_weight", 1e300),
    ("index", "name", "../x"),
]


@pytest.mark.parametrize(("part", "key", "value"), CHANGES)
def test_a_record_of_a_search_that_cannot_be_run_is_refused_in_one_line(tmp_path, part, key, value):
    file, record = recorded(tmp_path, "quokka", "--method", "or", "-k", "2")
    record[part][key] = value
    file.write_text(json.dumps(record), encoding="utf-8")

    done = call("rerun", file)

    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


OLD = {"id": "OLD", "title": "Axolotl limbs", "abstract": "Axolotl limbs regrow.", "year": 2020}
NEW = {
    "id": "NEW",
    "title": "Axolotl gills",
    "abstract": "Gills of the axolotl.",
    "authors": ["Ada Kim", "Bo Lee"],
    "year": 2024,
    "journal": "Gills",
    "doi": "10.1000/gills",
}


def publish(home, *papers):
    build(home, write_jsonl(home / "papers.jsonl", [*PAPERS[:3], *papers]), NAME)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Save a search that found OLD on 31 January 2020."""
    monkeypatch.setenv("SHRAG_HOME", str(tmp_path))
    publish(tmp_path, OLD)
    file = tmp_path / "axolotl.json"
    assert call("search", "axolotl", "--method", "or", "--name", NAME, "--record", file).code == 0
    record = json.loads(file.read_text())
    file.write_text(json.dumps(record | {"date": "2020-01-31T09:30:00Z"}))
    return file


def test_a_new_paper_is_reported_once(file, tmp_path):
    publish(tmp_path, OLD, NEW)

    first, second = (call("rerun", file, "--since", "last") for _ in range(2))

    assert first.code == second.code == 0
    lines = first.out.splitlines()
    assert lines[0].startswith("New papers: 1 – axolotl")
    assert lines[3:6] == [
        "  1. Ada Kim, Bo Lee (2024). Axolotl gills. Gills",
        "     https://doi.org/10.1000/gills",
        "     NEW",
    ]
    assert second.out == ""


@pytest.mark.parametrize(
    ("since", "ids"),
    [("record", ["NEW"]), ("2020-02-01", ["NEW"]), ("2020-01-31", ["NEW", "OLD"]), ("2999-01-01", [])],
)
def test_papers_since_the_record_or_a_date_can_be_listed_again(file, tmp_path, since, ids):
    publish(tmp_path, OLD, NEW)
    call("rerun", file, "--since", "last")

    done = call("rerun", file, "--since", since, "--json")

    assert sorted(paper["doc_id"] for paper in json.loads(done.out)["new"]) == ids
