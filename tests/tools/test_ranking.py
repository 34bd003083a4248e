import pytest

from tools.ranking import side_by_side


def test_two_runs_are_measured_side_by_side():
    qrels = {"q1": {"a": 1}, "q2": {"d": 1}}
    embedded = {"q1": [("a", 2.0), ("b", 1.0)], "q2": [("c", 1.0)]}
    cluster = {"q1": [("b", 2.0), ("a", 1.0)], "q2": [("d", 1.0)]}

    subject = {"collection": "tydi-ko", "setting": "alone", "method": "or"}
    ours, theirs = side_by_side(subject, qrels, embedded, cluster)

    assert ours == subject | {
        "engine": "tantivy",
        "questions": 2,
        "nDCG@10": pytest.approx(0.5),
        "Success@5": 0.5,
        "Success@15": 0.5,
    }
    assert theirs["nDCG@10"] == pytest.approx((0.6309297536 + 1) / 2)
    assert theirs["Success@15"] == 1.0
    assert theirs["overlap@10"] == 0.5
