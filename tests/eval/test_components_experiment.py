import json

from click.testing import CliRunner

from eval.development.components import PARTS, main


def test_a_part_of_the_order_is_laid_beside_the_whole_by_kind_of_question(tmp_path):
    arguments = ["--home", tmp_path / "home", "--data", tmp_path, "--collection", "held-out"]
    arguments += ["--part", "counterparts", "--step", "4", "--json"]

    result = CliRunner().invoke(main, [*map(str, arguments)])

    rows = {(row["kind"], row["measure"]): row for row in json.loads(result.stdout)}
    crossing = rows["cross-lingual", "Success@5"]
    assert crossing["without"] == "counterparts"
    assert crossing["wins"] + crossing["ties"] + crossing["losses"] == 5
    assert crossing["b"] < crossing["a"]  # a question in one language finds nothing in the other
    assert ("two-step", "both@10") in rows


def test_constraints_are_a_part_like_those_of_the_order():
    assert {"second-search", "weights", "constraints"} <= set(PARTS)
