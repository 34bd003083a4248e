import json

import pytest
from click.testing import CliRunner

from tools.components import main, mean_rows


def test_a_row_has_the_change_without_each_part_by_statistics_and_by_recorded_strategies(tmp_path):
    arguments = ["--home", tmp_path / "home", "--data", tmp_path, "--collection", "held-out"]
    arguments += ["--step", "4", "--json"]

    result = CliRunner().invoke(main, [*map(str, arguments)])

    rows = {row["strategies"]: row for row in json.loads(result.stdout)["rows"]}
    assert rows.keys() == {"statistics", "recorded"}
    assert rows["recorded"]["without keywords"] < -0.1
    assert rows["recorded"]["shrag"] > rows["statistics"]["shrag"]
    assert rows["statistics"]["without synonyms"] < 0  # questions find papers in the other language by them


def test_each_collection_counts_once_in_the_mean_of_training():
    subject = {"strategies": "statistics", "measure": "nDCG@10"}
    rows = [
        {"collection": "cacm", **subject, "questions": 1, "gain": 0.3},
        {"collection": "lisa", **subject, "questions": 100, "gain": 0.1},
        {"collection": "scifact", **subject, "questions": 9, "gain": 9.0},
    ]

    [mean] = mean_rows(rows)

    assert (mean["questions"], mean["gain"]) == (101, pytest.approx(0.2))
