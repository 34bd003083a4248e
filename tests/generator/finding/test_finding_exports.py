"""The papers found as references to take along."""

import csv
import json

from tests.generator.sample_index import ENGLISH, NAME, shrag

pytest_plugins = ["tests.generator.sample_index"]


def find(home, *options):
    return shrag("find-papers", ENGLISH, "--name", NAME, "--threshold", "0", *options, home=home)


def test_the_list_is_exported_in_its_order_with_scores_and_reasons(sample_home, tmp_path):
    file = tmp_path / "found.csv"
    papers = json.loads(find(sample_home, "--json").stdout)["papers"]
    assert len(papers) > 1

    done = find(sample_home, "--export", "csv", "--out", file)

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.endswith(f"{len(papers)} references written to {file}\n")
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["id"], row["title"]) for row in rows] == [(each["id"], each["title"]) for each in papers]
    assert [(float(row["score"]), row["why"]) for row in rows] == [
        (each["score"], each["why"]) for each in papers
    ]


def test_a_kept_search_is_exported_later(sample_home, tmp_path):
    state, file = tmp_path / "state.json", tmp_path / "found.ris"
    found = json.loads(find(sample_home, "--json", "--save", state).stdout)

    find(sample_home, "--resume", state, "--export", "ris", "--out", file)

    lines = file.read_text(encoding="utf-8").splitlines()
    told = [line.removeprefix("ID  - ") for line in lines if line.startswith("ID  - ")]
    assert told == [paper["id"] for paper in found["papers"]]
