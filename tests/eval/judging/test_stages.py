"""Stages of a benchmark: thresholds, judges that replace others, grades that count, estimated misses."""

import sqlite3
from contextlib import closing

import pytest

from base.errors import DamagedFile, InvalidCall
from eval.judging.benchmark import FILE, Assessment, Benchmark, Question, create
from eval.judging.sheets import pairs_to_confirm
from eval.judging.stages import (
    agreement_table,
    all_stages,
    automatic_stages,
    final_grades,
    methods_table,
    missed,
    stages_table,
)
from eval.statistics import agreement
from tests.eval.judging.made_benchmarks import append, decide, grade, judge, pair, pooled_benchmark


def numbers(pairs):
    return [int(paper[1].removeprefix("P")) for _, paper in pairs]


@pytest.fixture
def folder(tmp_path):
    pooled_benchmark(tmp_path / "made")
    return tmp_path / "made"


def stages_of(folder):
    return {each.name: numbers(each.pairs) for each in automatic_stages(Benchmark(folder))}


def test_a_stage_passes_papers_with_at_least_the_threshold(folder):
    judge(folder, "coarse", {1: 0.5, 2: 0.49, 3: 1, 4: 0})
    judge(folder, "fine", {1: 0.1, 3: 0.9})
    assert stages_of(folder) == {"pooled": [1, 2, 3, 4], "coarse": [1, 3], "fine": [3]}
    assert sorted(numbers(confirmed_by(folder, part="dropped"))) == [1, 2, 4]
    judge(folder, "coarse", {}, threshold=0.4)  # of the last call
    assert stages_of(folder)["coarse"] == [1, 2, 3]


def test_the_judge_of_the_last_call_counts_and_the_other_grades_are_kept(folder):
    judge(folder, "coarse", {1: 0.9, 2: 0.9, 3: 0.9, 4: 0.9})
    judge(folder, "coarse", {1: 0.1, 2: 0.7}, by="brief", model="small", version=1)
    [_, coarse] = automatic_stages(Benchmark(folder))
    assert (numbers(coarse.pairs), coarse.judged, coarse.of) == ([2], 2, 4)
    judge(folder, "coarse", {3: 0.9}, by="brief", model="small", version=2)
    assert stages_of(folder)["coarse"] == [3]
    judge(folder, "coarse", {4: 0.9}, by="brief", model="large", version=2)
    assert stages_of(folder)["coarse"] == [4]
    judge(folder, "coarse", {})
    assert stages_of(folder)["coarse"] == [1, 2, 3, 4]


def test_the_table_has_counts_shares_and_reductions(folder):
    judge(folder, "coarse", {1: 0.5, 2: 0.4, 3: 1, 4: 0})
    grade(folder, "kim", {1: 0, 3: 2})
    made = Benchmark(folder)
    grades = final_grades(made)
    stages = all_stages(made, grades)
    assert methods_table(made, stages[-2].pairs, grades).rows == (("or", "papers", 4, 4, 2, 1, 1),)
    assert stages_table(made, stages).rows == (
        ("pooled", 4, 100.0, None, 4.0, None, None, None),
        ("coarse", 2, 50.0, 50.0, 2.0, 4, "rules", 0.5),
        ("confirmed", 1, 25.0, 50.0, 1.0, 2, "persons", None),
    )


def test_the_grade_of_the_first_assessor_counts(folder):
    grade(folder, "kim", {1: 3})
    grade(folder, "kim", {1: 0})  # the last one of an assessor
    grade(folder, "lee", {1: 3, 2: 1, 3: 0})
    grades = {pair[1][1]: each.grade for pair, each in final_grades(Benchmark(folder)).items()}
    assert grades == {"P1": 0, "P2": 1, "P3": 0}
    assert final_grades(Benchmark(folder), ["lee"])[pair(1)].grade == 3


def test_the_estimate_of_missed_papers_has_wilson_s_interval():
    pooled = [pair(number) for number in range(1_010)]
    passed = pooled[:10]
    grades = graded(*(int(number < 20) for number in range(110)))
    # 10 of 100 sampled papers are relevant: 100 of 1,000. Wilson: (.05522, .17437).
    found = missed(pooled, passed, grades)
    assert found is not None
    assert (found.dropped, found.graded, found.relevant, found.estimate) == (1_000, 100, 10, 100)
    assert found.low == pytest.approx(55.22, abs=0.01)
    assert found.high == pytest.approx(174.37, abs=0.01)
    assert missed([pair(1), pair(2)], [pair(1)], graded(None, 1)) is None


def test_seeds_count_unless_dropped_and_derived_questions_if_kept(folder):
    derived = [Question(f"Q1.{number}", "paddies", "extended", 1, "Q1") for number in (1, 2, 3)]
    append(folder, *derived)
    decide(folder, "Q1.1", kept=True)
    decide(folder, "Q1.2", kept=False)
    assert list(Benchmark(folder).selected) == ["Q1", "Q1.1"]
    decide(folder, "Q1", kept=False)
    decide(folder, "Q1.1", kept=False)
    decide(folder, "Q1.1", kept=True)
    assert list(Benchmark(folder).selected) == ["Q1.1"]


def confirmed_by(folder, assessor="kim", part="passed", sample=None):
    return pairs_to_confirm(Benchmark(folder), assessor, part, sample)


def test_all_assessors_judge_the_same_papers_in_the_same_order_which_is_not_that_of_the_ranks(tmp_path):
    pooled_benchmark(tmp_path, papers=30, queries=("Q2", "Q1"))
    pairs = confirmed_by(tmp_path)
    assert confirmed_by(tmp_path, "lee") == pairs
    assert [query_id for query_id, _ in pairs] == ["Q2"] * 30 + ["Q1"] * 30
    assert sorted(numbers(pairs[:30])) == list(range(1, 31)) != numbers(pairs[:30])


def test_disputed_papers_have_different_grades_of_others(folder):
    grade(folder, "kim", {1: 3, 2: 1})
    grade(folder, "lee", {1: 0, 2: 1, 3: 2})
    assert numbers(confirmed_by(folder, "chair", "disputed")) == [1]


def test_a_sample_is_a_part_of_the_papers_and_grows_by_adding(tmp_path):
    pooled_benchmark(tmp_path, papers=30)
    five, ten = (set(confirmed_by(tmp_path, sample=size)) for size in (5, 10))
    assert (len(five), len(ten), five < ten < set(confirmed_by(tmp_path))) == (5, 10, True)
    assert set(confirmed_by(tmp_path, sample=99)) == set(confirmed_by(tmp_path))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE records SET record = '{}' WHERE kind = 'Ranked'",
        "UPDATE records SET kind = 'Other' WHERE number = 2",
    ],
)
def test_damage_is_named_by_the_file(folder, change):
    with closing(sqlite3.connect(folder / FILE)) as database, database:
        database.execute(change)
    with pytest.raises(DamagedFile, match=FILE):
        Benchmark(folder)


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("all my work")
    with pytest.raises(InvalidCall, match=r"thesis\.txt"):
        create(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.txt"]


# Both say relevant 20 times, the first alone 5, the second alone 10, neither 15 times. 35 of 50 are equal,
# p_o = .7; p_e = .5 · .6 + .5 · .4 = .5, so kappa = .2 / .5 = .4.
FIFTY = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15


def graded(*grades):
    return {
        pair(number): Assessment(pair(number)[0], pair(number)[1], "kim", grade, "t")
        for number, grade in enumerate(grades)
        if grade is not None
    }


# p_o = 3/6. Firsts: 0 twice, 1 once, 2 twice, 3 once; seconds: 0 twice, 1 twice, 2 once, 3 once.
# p_e = (2·2 + 1·2 + 2·1 + 1·1) / 36 = 9/36, kappa = (18 − 9) / (36 − 9).
SIX = [(0, 0), (0, 1), (1, 1), (2, 2), (2, 3), (3, 0)]


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        (FIFTY, 0.4),
        (SIX, 9 / 27),
        ([(0, 0), (3, 3)], 1),
        ([(0, 1), (1, 0)], -1),  # below chance
        ([(2, 2)] * 5, None),
    ],
)
def test_kappa(pairs, kappa):
    assert agreement(pairs).kappa == (kappa and pytest.approx(kappa))


def test_only_papers_that_both_graded_count():
    kim, lee = graded(0, 1, None, 3), graded(0, 2, 1)
    [(names, papers, equal, kappa, relevant, of_relevant)] = agreement_table({"kim": kim, "lee": lee}).rows
    assert (names, papers, equal, relevant, of_relevant) == ("kim, lee", 2, 50, 100, 1)
    assert kappa == pytest.approx((2 * 1 - 1) / (4 - 1))  # grade 0 once by each
    several = agreement_table({"a": graded(0), "b": graded(1), "c": graded(1), "d": graded(None)})
    assert [row[:3] for row in several.rows] == [("a, b", 1, 0), ("a, c", 1, 0), ("b, c", 1, 100)]
