from itertools import pairwise
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.errors import BadRun
from eval.runs import as_written, read_run, write_run

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

    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert (tmp_path / "run").read_text() == (
        "q1 Q0 d2 1 3.5 papers-or\nq1 Q0 d1 2 1.25 papers-or\nq2 Q0 d1 1 0.5 papers-or\n"
    )


@pytest.mark.parametrize(
    ("scores", "written"),
    [
        ([1.0, 1.0, 1.0, 0.5], [1.0, 0.999999, 0.999998, 0.5]),
        ([1048576.0] * 2, [1048576.0, 1048575.9]),  # 2^20: single-precision numbers below are 2^-4 apart
        ([1.0, 2.0], [1.0, 0.999999]),
    ],
)
def test_what_ties_or_rises_is_written_a_small_step_lower(scores, written):
    assert [score for _, score in as_written(list(zip("abcd", scores, strict=False)))] == written


@given(RUNS)
def test_what_was_read_is_written_byte_for_byte_again(tmp_path_factory, run):
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder / "first", run, "tag")
    again = read_run(folder / "first")
    write_run(folder / "second", again, "tag")

    assert ids(again) == ids(run)
    assert (folder / "first").read_bytes() == (folder / "second").read_bytes()


@given(RANKINGS)
def test_written_scores_fall_strictly_in_single_precision(ranking):
    scores = [np.float32(score) for _, score in as_written(ranking)]

    assert all(above > below for above, below in pairwise(scores))


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
