from unicodedata import normalize

import pytest

from eval.errors import BadQrels
from eval.qrels import read_qrels


def qrels_file(tmp_path, content):
    path = tmp_path / "qrels"
    path.write_text(content, encoding="utf-8")
    return path


READ = {
    "TREC's four columns, any white space": (
        "q1 0 d1 2\nq1\tQ0\td2\t0\nq2   0  d1\t 1\r\n",
        {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}},
    ),
    "BEIR's three columns have a header": (
        "query-id\tcorpus-id\tscore\n1\t317\t1\n3\t147\t1\n",
        {"1": {"317": 1}, "3": {"147": 1}},
    ),
    "three columns without a header": ("1\td1\t1\n", {"1": {"d1": 1}}),
    "grades below zero": ("q1 0 spam -2\nq1 0 d1 +1\n", {"q1": {"spam": -2, "d1": 1}}),
    "the same judgement twice": ("q1 0 d1 1\nq1 0 d1 1\n", {"q1": {"d1": 1}}),
    "ids are composed": (normalize("NFD", "물음 0 논문 1\n"), {"물음": {"논문": 1}}),
}


@pytest.mark.parametrize(("content", "qrels"), READ.values(), ids=READ)
def test_judgements_are_read(tmp_path, content, qrels):
    assert read_qrels(qrels_file(tmp_path, content)) == qrels


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("q1 0 d1 1\nq1 0 d2\n", 2, "3 columns"),
        ("q1 d1\n", 1, "2 columns"),
        ("q1\n", 1, "1 column; "),
        ("q1 0 d1 1.0\n", 1, "'1.0'"),
        ("q1 0 d1 high\n", 1, "'high'"),
        ("q1 0 d1 ²\n", 1, "'²'"),
        ("q1 0 d1 １\n", 1, "'１'"),
        ("q1 0 d1 1_0\n", 1, "'1_0'"),
        ("q1 0 d1 -+1\n", 1, "'-+1'"),
        ("q1 0 d1 99999999999\n", 1, "not a grade"),
        ("q1 0 d1 1\nq1 0 d1 0\n", 2, "d1 is judged 0 for q1, and 1 before"),
        ("q 0 \ub17c 1\nq 0 \u1102\u1169\u11ab 0\n", 2, "\ub17c is judged 0 for q, and 1 before"),
        ("query-id\tcorpus-id\tscore\nquery-id\tcorpus-id\tscore\n", 2, "'score'"),
    ],
)
def test_what_cannot_be_read_is_told_with_file_and_line(tmp_path, content, line, reason):
    path = qrels_file(tmp_path, content)

    with pytest.raises(BadQrels) as error:
        read_qrels(path)

    assert str(error.value).startswith(f"{path}:{line}: ")
    assert reason in str(error.value)


@pytest.mark.parametrize("content", ["", "\n", "query-id\tcorpus-id\tscore\n"])
def test_a_file_without_a_judgement_is_refused(tmp_path, content):
    with pytest.raises(BadQrels, match="no judgements"):
        read_qrels(qrels_file(tmp_path, content))


def test_the_real_judgements_are_read(shared_data):
    qrels = read_qrels(shared_data / "miracl-topics-qrels/qrels.miracl-v1.0-ko-dev.tsv")

    assert (len(qrels), sum(map(len, qrels.values()))) == (213, 3057)
