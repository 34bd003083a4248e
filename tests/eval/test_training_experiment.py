import gzip
import json

import pytest
from click.testing import CliRunner

from eval.experiments.rows import Row
from eval.experiments.training import main, mean_row


def run(folder, *arguments):
    return CliRunner().invoke(main, ["--home", str(folder / "home"), "--data", str(folder), *arguments])


def write_collection(folder):
    folder.mkdir(parents=True)
    papers = [
        {"id": "1", "title": "Quokka", "text": "Grass."},
        {"id": "2", "title": "Wombat", "text": "Hay."},
    ]
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(paper) + "\n" for paper in papers)
    (folder / "topics.tsv").write_text("q1\twhat does the wombat eat\n", encoding="utf-8")
    (folder / "qrels.txt").write_text("q1 0 2 1\n", encoding="utf-8")


def test_a_training_collection_is_ranked_by_both_methods(tmp_path):
    write_collection(tmp_path / "training" / "cacm")

    result = run(tmp_path, "--collection", "cacm", "--json")

    row, mean = json.loads(result.stdout)["rows"]
    assert row == {
        "collection": "cacm",
        "asked": 1,
        "nDCG@10 or": 1,
        "nDCG@10 shrag": 1,
        "relative gain": 0,
        "R@100 or": 1,
        "R@100 shrag": 1,
        "R@100 difference": 0,
    }
    assert mean == {"collection": "mean", "relative gain": 0}


def test_each_collection_counts_once_in_the_mean_gain():
    rows = [
        Row({"collection": "small"}, {"asked": 1, "relative gain": 0.3}),
        Row({"collection": "large"}, {"asked": 100, "relative gain": 0.1}),
    ]

    assert mean_row(rows).figures["relative gain"] == pytest.approx(0.2)


def test_collections_that_are_not_in_the_folder_are_left_out_and_named(tmp_path):
    result = run(tmp_path, "--collection", "cacm", "--collection", "npl", "--json")

    assert (result.exit_code, json.loads(result.stdout)) == (0, {"rows": []})
    assert f"{tmp_path}, left out: cacm, npl" in result.stderr
