"""New papers of saved searches: since a date, the last report, or the record."""

import json

import pytest

from tests.hostile import call
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever.made_papers import NAME, PAPERS

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


def test_a_folder_is_reported_and_a_damaged_record_does_not_stop_it(file, tmp_path):
    publish(tmp_path, OLD, NEW)
    folder = tmp_path / "searches"
    folder.mkdir()
    (folder / "1.json").write_text("{")
    (folder / "2.json").write_bytes(file.read_bytes())

    done = call("rerun", folder, "--since", "last")

    assert done.code == 2
    assert "1.json is not JSON" in done.err
    assert done.out.startswith("New papers: 1")
    assert sorted(path.name for path in folder.iterdir()) == ["1.json", "2.json", "2.json.found"]


def test_a_damaged_file_of_times_is_refused_in_one_line_and_kept(file):
    beside = file.with_name("axolotl.json.found")
    for content in (b"", b"[]", b'{"papers": {"A": 1}}', b"[" * 100_000, b"\xff"):
        beside.write_bytes(content)

        done = call("rerun", file, "--since", "last")

        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert beside.read_bytes() == content
