"""Judgements of passages and runs of papers, and the reverse, are scored by paper or refused."""

import json

import pytest
from click.testing import CliRunner

from eval.commands import evaluate
from eval.errors import UnitsDiffer
from eval.units import MadeRun, in_one_unit

MIRACL = {"q": {"1234#5": 1, "1234#6": 0, "77#0": 0}}
PAPERS = {"q": {"1234": 1, "77": 0}}


def test_passages_are_scored_against_judgements_of_passages_as_they_are():
    run = {"q": [("1234#5", 2.0), ("1234#6", 1.0)]}

    assert in_one_unit(MIRACL, [MadeRun("a.run", run)]) == (MIRACL, [run], [])


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
    ("qrels", "run", "unit"),
    [
        (
            {"q": {"10.1/a#3": 1, "b": 1}},
            {"q": [("10.1/a#3", 1.0)]},
            "",
        ),  # ids of papers that look like passages'
        ({"q": {"10.1/a#3": 1}}, {"q": [("10.1/a#3", 1.0)]}, "paper"),
        ({"q": {"a": 1}}, {"q": [("b#1", 1.0)]}, "paper"),
        ({"q": {"a": 1}}, {"q": [("b", 1.0)]}, ""),
        ({"q": {"a#1": 1}}, {}, ""),
    ],
)
def test_ids_that_differ_in_no_unit_stay_as_they_are(qrels, run, unit):
    assert in_one_unit(qrels, [MadeRun("a.run", run, unit)]) == (qrels, [run], [])


@pytest.mark.parametrize(
    ("qrels", "run", "named"),
    [
        (
            MIRACL,
            {"q": [("P1", 1.0)]},
            r"a\.run ranks papers \(P1, …\), the qrels judge passages \(1234#5, …\)",
        ),
        (
            PAPERS,
            {"q": [("P1#1", 1.0)]},
            r"a\.run ranks passages \(P1#1, …\), the qrels judge papers \(1234, …\)",
        ),
    ],
)
def test_without_a_paper_in_common_both_units_are_named(qrels, run, named):
    with pytest.raises(UnitsDiffer, match=named):
        in_one_unit(qrels, [MadeRun("a.run", run)])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("q 0 1234#5 1\nq 0 77#0 0\n")
    (tmp_path / "papers.run").write_text("q Q0 1234 1 2.0 x\nq Q0 77 2 1.0 x\n")
    (tmp_path / "passages.run").write_text("q Q0 77#0 1 2.0 x\nq Q0 1234#5 2 1.0 x\n")
    (tmp_path / "others.run").write_text("q Q0 P1 1 2.0 x\n")
    return tmp_path


def test_scores_of_a_run_of_papers_by_judgements_of_passages_are_not_zero(files):
    scored = CliRunner().invoke(
        evaluate, ["score", str(files / "qrels"), str(files / "papers.run"), "--measures", "RR", "--json"]
    )

    assert json.loads(scored.stdout) == {"RR": 1.0}
    assert "papers.run ranks papers" in scored.stderr


def test_a_comparison_of_runs_of_both_units_is_by_paper(files):
    runs = [str(files / "passages.run"), str(files / "papers.run")]

    compared = CliRunner().invoke(
        evaluate, ["compare", str(files / "qrels"), *runs, "--measures", "RR", "--json"]
    )

    record = json.loads(compared.stdout)
    assert (record["measures"]["RR"]["a"], record["measures"]["RR"]["b"]) == (0.5, 1.0)
    assert record["overlap@10"] == 1.0


def test_a_run_of_another_corpus_is_refused_with_both_units(files):
    scored = CliRunner().invoke(evaluate, ["score", str(files / "qrels"), str(files / "others.run")])

    assert isinstance(scored.exception, UnitsDiffer)
