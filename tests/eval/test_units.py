"""Judgements of passages and runs of papers, and the reverse, are scored by paper or refused."""

import json

import pytest
from click.testing import CliRunner

from eval.commands import evaluate
from eval.errors import UnitsDiffer
from eval.units import MadeRun, in_one_unit

MIRACL = {"q": {"1234#5": 1, "1234#6": 0, "77#0": 0}}
PAPERS = {"q": {"1234": 1, "77": 0}}


def test_judgements_of_passages_become_those_of_papers_for_a_run_of_papers():
    run = {"q": [("77", 2.0), ("1234", 1.0)]}

    qrels, runs, notes = in_one_unit(MIRACL, [MadeRun("a.run", run, "paper")])

    assert (qrels, runs) == (PAPERS, [run])
    assert notes[0].startswith("a.run ranks papers, ")


def test_a_run_of_passages_becomes_one_of_papers_for_judgements_of_papers():
    run = {"q": [("77@en", 3.0), ("1234#2", 2.0), ("77", 1.0)]}

    qrels, runs, notes = in_one_unit(PAPERS, [MadeRun("a.run", run, "passage")])

    assert (qrels, runs) == (PAPERS, [{"q": [("77", 3.0), ("1234", 2.0)]}])
    assert notes[0].startswith("a.run ranks passages, ")


def test_two_runs_of_different_units_are_compared_by_paper():
    runs = [
        MadeRun("a.run", {"q": [("1234#5", 2.0), ("1234#6", 1.0)]}, "passage"),
        MadeRun("b.run", {"q": [("1234", 1.0)]}, "paper"),
    ]

    qrels, converted, notes = in_one_unit(MIRACL, runs)

    assert (qrels, converted) == (PAPERS, [{"q": [("1234", 2.0)]}, {"q": [("1234", 1.0)]}])
    assert len(notes) == 2


@pytest.mark.parametrize(
    ("judged", "found", "unit"),
    [
        ("10.1/a#3 b", "10.1/a#3", ""),  # ids of papers that look like passages'
        ("10.1/a#3", "10.1/a#3", "paper"),
        ("a", "b#1", "paper"),
        ("a", "b", ""),
        ("a#1", "", ""),
        ("1234#5 1234#6", "1234#5 1234#6", ""),
    ],
)
def test_ids_that_differ_in_no_unit_stay_as_they_are(judged, found, unit):
    qrels = {"q": dict.fromkeys(judged.split(), 1)}
    run = {"q": [(each, 1.0) for each in found.split()]} if found else {}
    assert in_one_unit(qrels, [MadeRun("a.run", run, unit)]) == (qrels, [run], [])


@pytest.mark.parametrize(
    ("qrels", "found", "named"),
    [
        (MIRACL, "P1", r"a\.run ranks papers \(P1, …\), the qrels judge passages \(1234#5, …\)"),
        (PAPERS, "P1#1", r"a\.run ranks passages \(P1#1, …\), the qrels judge papers \(1234, …\)"),
    ],
)
def test_without_a_paper_in_common_both_units_are_named(qrels, found, named):
    with pytest.raises(UnitsDiffer, match=named):
        in_one_unit(qrels, [MadeRun("a.run", {"q": [(found, 1.0)]})])


def test_commands_score_and_compare_runs_of_both_units(tmp_path):
    for name, content in {
        "qrels": "q 0 1234#5 1\nq 0 77#0 0\n",
        "papers.run": "q Q0 1234 1 2.0 x\nq Q0 77 2 1.0 x\n",
        "passages.run": "q Q0 77#0 1 2.0 x\nq Q0 1234#5 2 1.0 x\n",
    }.items():
        (tmp_path / name).write_text(content)

    def call(command, *runs):
        paths = [str(tmp_path / name) for name in ("qrels", *runs)]
        return CliRunner().invoke(evaluate, [command, *paths, "--measures", "RR", "--json"])

    scored = call("score", "papers.run")
    assert json.loads(scored.stdout) == {"RR": 1.0}
    assert "papers.run ranks papers" in scored.stderr
    record = json.loads(call("compare", "passages.run", "papers.run").stdout)
    assert (record["measures"]["RR"]["a"], record["measures"]["RR"]["b"]) == (0.5, 1.0)
    assert record["overlap@10"] == 1.0
