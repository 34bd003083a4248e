import gzip
from itertools import pairwise
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.errors import BadRun
from eval.run_reader import read_run
from eval.runs import as_written, write_run

IDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Z"]), min_size=1, max_size=12).map(
    lambda text: normalize("NFC", text)
)
RANKINGS = st.lists(
    st.tuples(IDS, st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, 12.5])),
    unique_by=lambda hit: hit[0],
    max_size=20,
)
RUNS = st.dictionaries(IDS, RANKINGS, max_size=5)


def ids(run):
    return {query_id: [found for found, _ in ranking] for query_id, ranking in run.items() if ranking}


def test_a_run_has_trecs_six_columns(tmp_path):
    write_run(tmp_path / "run", {"q1": [("d2", 3.5), ("d1", 1.25)], "q2": [("d1", 0.5)]}, "papers-or")

    assert (tmp_path / "run").read_text() == (
        "q1 Q0 d2 1 3.5 papers-or\nq1 Q0 d1 2 1.25 papers-or\nq2 Q0 d1 1 0.5 papers-or\n"
    )


def test_what_ties_is_written_a_small_step_lower():
    assert as_written([("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 0.5)]) == [
        ("a", 1.0),
        ("b", 0.999999),
        ("c", 0.999998),
        ("d", 0.5),
    ]


def test_a_tie_of_large_scores_takes_the_next_single_precision_number():
    # 2^20 = 1048576; the numbers just below are 2^-4 apart, those above 2^-3.
    assert as_written([("a", 1048576.0), ("b", 1048576.0)]) == [("a", 1048576.0), ("b", 1048575.9)]
    assert np.float32(1048575.9) == 1048575.875


def test_a_score_above_the_one_before_it_follows_the_rank():
    assert as_written([("a", 1.0), ("b", 2.0)]) == [("a", 1.0), ("b", 0.999999)]


@given(RUNS)
def test_reading_back_gives_the_same_order(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("runs") / "run"

    write_run(path, run, "tag")

    assert ids(read_run(path)) == ids(run)


@given(RUNS)
def test_what_was_read_is_written_byte_for_byte_again(tmp_path_factory, run):
    folder = tmp_path_factory.mktemp("runs")

    write_run(folder / "first", run, "tag")
    write_run(folder / "second", read_run(folder / "first"), "tag")

    assert (folder / "first").read_bytes() == (folder / "second").read_bytes()


@given(RANKINGS)
def test_written_scores_fall_strictly_in_single_precision(ranking):
    scores = [np.float32(score) for _, score in as_written(ranking)]

    assert all(above > below for above, below in pairwise(scores))


def test_a_foreign_run_is_read_by_score_then_rank(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(gzip.compress(b"q1 Q0 b 2 1.5 x\nq1 Q0 c 3 7e0 x\nq1\tQ0\ta\t1\t1.5\tx\n"))

    assert read_run(path) == {"q1": [("c", 7.0), ("a", 1.5), ("b", 1.5)]}


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("q1 Q0 d1 1 1.5\n", 1, "5 columns"),
        ("q1\n", 1, "1 column; "),
        ("q1 Q0 d1 1 1.5 x\nq1 Q0 d1 2 1.0 x\n", 2, "d1 occurs "),
        ("q Q0 \ub17c 1 2.0 x\nq Q0 \u1102\u1169\u11ab 2 1.0 x\n", 2, "\ub17c occurs "),
        ("q1 Q0 d1 1 1.5 x\nq2 Q0 d1 1 1.5 x\nq1 Q0 d2 1 1.0 x\n", 3, "rank 1 occurs "),
        ("q1 Q0 d1 1 1.5 x\n\nq1 Q0 d2 2 1.0\n", 3, "5 columns"),
        ("q1 Q0 d1 1 1.5 x y\nq1 Q0 d2 2 1.0\n", 1, "7 columns"),
        ("q1 Q0 d1 1 1.5 x\nq1 Q0 d2 2 inf x\n", 2, "'inf'"),
        ("q1 Q0 d1 1 high x\n", 1, "'high'"),
        ("q1 Q0 d1 1 nan x\n", 1, "'nan'"),
        ("q1 Q0 d1 1 1_0 x\n", 1, "'1_0'"),
        ("q1 Q0 d1 1 １ x\n", 1, "'１'"),
        ("q1 Q0 d1 1 0x10 x\n", 1, "'0x10'"),
        ("q1 Q0 d1 1 1e999 x\n", 1, "'1e999'"),
        ("q1 Q0 d1 1_0 1 x\n", 1, "'1_0'"),
        ("q1 Q0 d1 ２ 1 x\n", 1, "'２'"),
        ("q1 Q0 d1 first 1.5 x\n", 1, "'first'"),
    ],
)
def test_what_cannot_be_read_is_told_with_file_and_line(tmp_path, content, line, reason):
    path = tmp_path / "run"
    path.write_text(content)

    with pytest.raises(BadRun) as error:
        read_run(path)

    assert str(error.value).startswith(f"{path}:{line}: ")
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ({"q1": [("d 1", 1.0)]}, "'d 1'"),
        ({"": [("d1", 1.0)]}, "''"),
        ({"q1": [("d1", 1.0), ("d1", 0.5)]}, "d1 occurs twice"),
        ({"q1": [("d1", float("nan"))]}, "nan"),
        ({"q1": [("d1", float("inf"))]}, "inf"),
    ],
)
def test_what_no_run_file_can_hold_is_refused_and_the_old_file_stands(tmp_path, run, reason):
    path = tmp_path / "run"
    path.write_text("old\n")

    with pytest.raises(BadRun, match=reason):
        write_run(path, run, "tag")

    assert path.read_text() == "old\n"


def test_nothing_but_the_run_is_left_in_its_folder(tmp_path):
    write_run(tmp_path / "or.trec", {"q1": [("d1", 1.0)]}, "tag")

    assert [path.name for path in tmp_path.iterdir()] == ["or.trec"]


@pytest.mark.parametrize(
    "content",
    [
        "q1 Q0 a 1 2.0 x\r\nq1 Q0 b 2 1.0 x\r\n",
        "\ufeffq1 Q0 a 1 2.0 x\n\ufeffq1 Q0 b 2 1.0 x\n",
        "q1 Q0 a 1 2.0 x\n\n  q1  Q0\tb   02  +1.0 y",
        "q1 Q0 a 1 2.0 x\nq1 Q1 b 2 1.0 x\n",
        "q1 Q0 a 0 2.0 x\nq1 Q0 b 1 1.0 x\n",
    ],
    ids=["CRLF", "byte order marks", "blanks and no end", "other columns", "ranks from 0"],
)
def test_unusual_forms_of_a_run_are_read(tmp_path, content):
    (tmp_path / "run").write_text(content, "utf-8")

    assert read_run(tmp_path / "run") == {"q1": [("a", 2.0), ("b", 1.0)]}


def test_lines_of_a_question_need_not_be_adjacent(tmp_path):
    lines = [f"q{query} Q0 d{rank} {rank} {200 - rank} x\n" for rank in range(1, 201) for query in (1, 2)]
    (tmp_path / "run").write_text("".join(lines))

    run = read_run(tmp_path / "run")

    assert list(run) == ["q1", "q2"]
    assert run["q2"] == [(f"d{rank}", float(200 - rank)) for rank in range(1, 201)]


def test_an_error_beyond_the_first_block_names_its_line(tmp_path):
    lines = [f"q{number} Q0 d1 1 1.5 x\n" for number in range(20_000)]
    (tmp_path / "run").write_text("".join([*lines, "q Q0 d1 1 1.5\n"]))

    with pytest.raises(BadRun, match=":20001: 5 columns"):
        read_run(tmp_path / "run")


def test_ids_are_composed_as_those_of_an_index_are(tmp_path):
    (tmp_path / "run").write_text(normalize("NFD", "물음 Q0 논문 1 1.5 x\n"), "utf-8")

    assert read_run(tmp_path / "run") == {"물음": [("논문", 1.5)]}
