"""Judgements of passages and runs of papers, and the reverse, are scored by paper."""

import json

import pytest
from click.testing import CliRunner

from eval.commands import evaluate
from eval.units import in_one_unit

MIRACL = {"q": {"1234#5": 1, "1234#6": 0, "77#0": 0}}
PAPERS = {"q": {"1234": 1, "77": 0}}
FOUND_PASSAGES, FOUND_PAPERS = [("1234#5", 2.0), ("1234#6", 1.0)], [("77", 2.0), ("1234", 1.0)]


@pytest.mark.parametrize(
    ("qrels", "runs", "by_paper"),
    [
        (MIRACL, [FOUND_PAPERS], [FOUND_PAPERS]),
        (PAPERS, [[("77@en", 3.0), ("1234#2", 2.0), ("77", 1.0)]], [[("77", 3.0), ("1234", 2.0)]]),
        (MIRACL, [FOUND_PASSAGES, FOUND_PAPERS], [[("1234", 2.0)], FOUND_PAPERS]),
    ],
)
def test_judgements_and_runs_of_different_units_are_converted_to_papers(qrels, runs, by_paper):
    converted, found, _ = in_one_unit(qrels, [{"q": of} for of in runs])
    assert (converted, found) == (PAPERS, [{"q": each} for each in by_paper])


@pytest.mark.parametrize(
    ("judged", "found"),
    [
        ("10.1/a#3 b", "10.1/a#3"),  # ids of papers that look like passages'
        ("a", "b#1"),
        ("a", "b"),
        ("a#1", ""),
        ("1234#5 1234#6", "1234#5 1234#7"),
        ("5#0", "5#0@en"),
    ],
)
def test_ids_that_differ_in_no_unit_stay_as_they_are(judged, found):
    qrels = {"q": dict.fromkeys(judged.split(), 1)}
    run = {"q": [(each, 1.0) for each in found.split()]} if found else {}
    assert in_one_unit(qrels, [run]) == (qrels, [run], None)


def test_commands_score_and_compare_runs_of_both_units(tmp_path):
    for name, content in {
        "qrels": "q 0 1234#5 1\nq 0 77#0 0\n",
        "papers.run": "q Q0 1234 1 2.0 x\nq Q0 77 2 1.0 x\n",
        "passages.run": "q Q0 77#0 1 2.0 x\nq Q0 1234#5 2 1.0 x\n",
        "others.run": "q Q0 P1 1 2.0 x\n",
    }.items():
        (tmp_path / name).write_text(content)

    def call(command, *runs):
        paths = [str(tmp_path / name) for name in ("qrels", *runs)]
        return CliRunner().invoke(evaluate, [command, *paths, "--measures", "RR", "--json"])

    scored = call("score", "papers.run")
    assert json.loads(scored.stdout) == {"RR": 1.0}
    assert "1234 is ranked, 1234#5 is judged" in scored.stderr
    assert "The run ranks P1, …, the qrels judge 1234#5, …" in call("score", "others.run").stderr
    record = json.loads(call("compare", "passages.run", "papers.run").stdout)
    assert (record["measures"]["RR"]["a"], record["measures"]["RR"]["b"]) == (0.5, 1.0)
    assert record["overlap@10"] == 1.0
