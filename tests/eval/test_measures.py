from math import log2

import pytest

from eval.errors import BadMeasure, NothingJudged
from eval.measures import evaluate, score
from eval.runs import read_run

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}}
RUN = {"q1": [("b", 3.0), ("x", 2.0), ("a", 1.0)], "q2": [("x", 2.0), ("d", 1.0)]}


def test_ndcg_discounts_each_gain_by_the_logarithm_of_its_rank():
    first = (1 / log2(2) + 2 / log2(4)) / (2 / log2(2) + 1 / log2(3))
    second = (1 / log2(3)) / (1 / log2(2))

    assert score(QRELS, RUN, "nDCG@10") == {"nDCG@10": pytest.approx((first + second) / 2)}


def test_each_measure_keeps_the_name_it_was_asked_for_with():
    # q1: precision 1/1 at b, 2/3 at a; q2: 1/2 at d.
    assert score(QRELS, RUN, "RR MAP, R@2") == {
        "RR": pytest.approx((1 + 1 / 2) / 2),
        "MAP": pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2),
        "R@2": pytest.approx((1 / 2 + 1) / 2),
    }


def test_without_a_judged_question_in_common_nothing_is_scored():
    with pytest.raises(NothingJudged, match="relevant"):
        score({"q1": {"a": 0}}, RUN, "RR")
    with pytest.raises(NothingJudged, match="z9"):
        score(QRELS, {"z9": [("a", 1.0)]}, "RR")


def test_a_judged_question_that_is_not_in_the_run_counts_zero():
    scores = evaluate(QRELS, {"q2": RUN["q2"]}, "RR")

    assert scores.means == {"RR": pytest.approx((0 + 1 / 2) / 2)}
    assert scores.per_query == {"RR": {"q1": 0.0, "q2": 0.5}}
    assert scores.missing == ("q1",)
    assert score(QRELS, {"q1": [], "q2": RUN["q2"]}, "RR") == {"RR": 0.25}
    assert score(QRELS, {}, "nDCG@10 R@100") == {"nDCG@10": 0.0, "R@100": 0.0}


def test_questions_without_judgement_or_without_anything_relevant_do_not_count():
    scores = evaluate(QRELS | {"q3": {"x": 0}}, RUN | {"q3": [("x", 1.0)], "q4": [("a", 1.0)]}, "RR")

    assert scores.means == {"RR": 0.75}
    assert scores.without_relevant == ("q3",)
    assert scores.unjudged == ("q4",)


@pytest.mark.parametrize("measure", ["RR", "RR@10"])  # RR@10 is computed by another provider
def test_ties_count_as_trec_eval_breaks_them_by_the_last_id(measure):
    assert score({"q1": {"a": 1}}, {"q1": [("a", 1.0), ("b", 1.0)]}, measure) == {measure: 0.5}


@pytest.mark.parametrize("measure", ["Judged@2", "R@2", "AP@2", "RR@2", "nDCG@2", "P@2", "Success@2"])
def test_a_measure_with_a_cutoff_needs_the_first_ids_and_their_ties_only(measure, tmp_path):
    # a and d tie for rank 2, d comes first; whole rankings are read for MAP.
    lines = ("q Q0 x 1 3.0 t", "q Q0 a 2 2.0 t", "q Q0 d 3 2.0 t", "q Q0 b 4 1.0 t")
    (tmp_path / "run").write_text("".join(f"{line}\n" for line in lines))
    qrels, run = {"q": {"a": 1, "b": 1, "d": 2}}, read_run(tmp_path / "run")

    assert score(qrels, run, [measure]) == {measure: score(qrels, run, [measure, "MAP"])[measure]}
    assert score(qrels, run, ["R@2"])["R@2"] == pytest.approx(1 / 3)
    assert score(qrels, run, ["P(rel=2)@2"])["P(rel=2)@2"] == 1 / 2


@pytest.mark.parametrize(
    "measures",
    [
        "Foo@10",
        "nDCG@",
        "nDCG(gains={1:99999999999})@10",
        "R",
        "P(rel=0)@5",
        "ERR@20",
        "__import__('os')",
        "",
        " , ",
    ],
)
def test_what_is_no_measure_here_is_refused_with_examples(measures):
    with pytest.raises(BadMeasure, match=r"nDCG@10|between 1 and 1,000,000"):
        score(QRELS, RUN, measures)
