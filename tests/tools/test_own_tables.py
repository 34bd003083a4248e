"""The project's own tables, with figures counted by hand."""

from importlib import import_module

import pytest
from click.testing import CliRunner

from tests.eval.experiments.calling import write_lines
from tools.answers import Question, finding_row, plain_rows, way_row
from tools.collections import scores_of, supporting, unseen
from tools.components import mean_rows
from tools.fitting import Example, RankedQuestion, balanced, effects, fit, passage_figures
from tools.glossary import Mined, counts_of, judged_rows, listed


def test_training_questions_that_are_in_dev_are_left_out():
    assert unseen({"t1": "Who  wrote it?", "t2": "Why?"}, {"d1": "who wrote it?"}) == {"t2": "Why?"}


def test_supporting_papers_are_relevant_and_both_must_be_among_the_first_ten(tmp_path):
    lines = ({"query_id": query_id, "question": "?", "supporting": ["5", "9"]} for query_id in ("q1", "q2"))
    qrels = supporting(write_lines(tmp_path / "questions.jsonl", *lines))
    run = {"q1": [("5", 3.0), ("1", 2.0), ("9", 1.0)], "q2": [("9", 1.0), ("2", 0.5)]}
    assert scores_of(qrels, run, ("R@10", "both@10")) == {"R@10": 0.75, "both@10": 0.5}
    assert scores_of(qrels, run, ("both@10",)) == {"both@10": 0.5}


def asked(scope, rank=None, likelihood=0.5, *, abstained=False, language="en", cross_lingual=False):
    topic = {"scope": scope, "language": language, "corpus": "sample", "cross_lingual": cross_lingual}
    return topic, Question(rank, likelihood, abstained)


def test_plain_questions_are_found_answered_and_declined_by_group():
    pairs = [
        asked("in", 1, 0.9),
        asked("in", 2, 0.6, cross_lingual=True),
        asked("in", 3, 0.3, abstained=True),
        asked("in", None, 0.7),
        asked("near", likelihood=0.4, abstained=True),
        asked("far", likelihood=0.8),
    ]
    [row] = plain_rows(pairs, "tune", ["all"])
    assert list(row.values())[3:] == [4, 2 / 4, 3 / 4, 2, 1 / 2, pytest.approx((2 + 1 + 0 + 1) / 8)]
    korean = (asked("in", 1, language="ko"), asked("far", language="ko"))
    rows = plain_rows([*pairs, *korean], "tune", ["near", "cross-lingual", "Korean"])
    assert [(row["in scope"], row["out of scope"]) for row in rows] == [(5, 1), (1, 3), (1, 1)]


def test_findings_among_the_quoted_sentences_are_counted():
    sentences = {
        "P1": ("Yields rose by 9%.", "Rice is grown.", "Methane fell by 5%."),
        "P2": ("Nurses work.", "Turnover fell by 3%."),
        "P3": (),
        "P4": ("Bees fly.",),  # without strings
    }
    pairs = [({"query_id": name}, Question(1, 0.5, False, texts)) for name, texts in sentences.items()]
    row = finding_row(pairs, {"P1": ["9%", "5%"], "P2": ["3%"], "P3": ["1%"]})
    assert list(row.values()) == [3, 0.333, 0.667, 5, 0.6]


def test_a_way_is_measured_by_its_answers():
    topics = [{"query_id": "S01", "kind": "x"}] * 2 + [{"query_id": "none", "kind": "unanswerable"}]
    outcomes = (
        Question(1, 0.5, False, ("Yields rose by 9%.",), (True,), (True, False), 10.0),
        Question(1, 0.5, True, milliseconds=20.0),
        Question(None, 0.5, True, milliseconds=30.0),
    )
    row = way_row("x", list(zip(topics, outcomes, strict=True)), {"S01": ["9%"]})
    assert list(row.values()) == ["x", 0.5, 0.5, 1, 1, 1 / 3, 2 / 3, 20.0]


def test_the_fit_separates_relevant_passages_from_others():
    rows = [{"lead": place / 10, "noise": float(place % 2)} for place in range(10)]
    judged = [(row, place >= 7) for place, row in enumerate(rows)]
    weights = fit(judged * 3, balanced([relevant for _, relevant in judged * 3]))
    assert list(weights) == ["bias", "lead", "noise"]
    assert weights["lead"] > 5 * abs(weights["noise"])
    expected = {"questions": 3, "AUROC": 1.0, "relevant kept": 1.0, "others kept": 0.0}
    assert passage_figures([judged] * 3, weights) == expected
    assert balanced(["a", "b", "b"]) == [0.5, 0.25, 0.25]


def test_the_effects_of_thresholds_are_shares_of_each_set():
    scores = {"there": (3.0, 1.0), "removed": (2.0, 0.0), "none": (-1.0, 2.0)}
    examples = [Example("plain", {"x": x}, answer) for answer, of in scores.items() for x in of]
    [areas], [*_, last] = effects(examples, {"bias": 0.0, "x": 1.0})
    assert list(areas.values()) == ["plain", 0.75, 0.75]
    assert (last["plain answered"], last["out of scope declined"]) == (0.5, 0.5)


def test_a_list_of_papers_ends_at_its_expected_f():
    asked_for = RankedQuestion([({"x": 4.0}, True), ({"x": 3.0}, False), ({"x": -9.0}, True)], 2)
    assert asked_for.length({"bias": 0.0, "x": 1.0}) == 2
    assert asked_for.f(2) == 2 * 1 / (2 + 2)


def test_each_training_collection_counts_once_in_the_mean():
    def row(name, **figures):
        return {"collection": name, "strategies": "statistics", "measure": "nDCG@10", **figures}

    rows = [
        row("cisi", questions=3, shrag=0.5),
        row("cacm", questions=1, shrag=0.7),
        row("sample", shrag=1.0),
    ]
    [mean] = mean_rows(rows)
    assert (mean["collection"], mean["questions"], mean["shrag"]) == ("mean of training", 4, 0.6)


GRAPH = Mined("sample", "pair", "지식 그래프", "knowledge graph", 3, ("bracket", "title"))
METHANE = Mined("sample", "pair", "메탄", "methane", 1, ("bracket",))
SHORT = Mined("sample", "abbreviation", "KD", "knowledge distillation", 2, ("bracket",))


def test_mined_pairs_are_counted_by_source_and_judged_by_collection_and_kind():
    assert list(counts_of("sample", [GRAPH, METHANE, SHORT]).values()) == ["sample", 2, 2, 0, 1, 1]
    text = "우리는 지식\n그래프(knowledge graph)를 만든다."
    judged = list(listed([GRAPH, METHANE, SHORT, SHORT], {"sample": [text]}))
    assert [each["text"] for each in judged] == [text.replace("\n", " "), "", "", ""]
    for record, right in zip(judged, (True, True, False, None), strict=True):
        record["right"] = right
    of_forms, of_pairs = judged_rows(judged, [GRAPH])
    assert list(of_pairs.values()) == ["sample", "pair", 2, 2, 1.0, 0.5]
    assert list(of_forms.values()) == ["sample", "abbreviation", 1, 0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["components", "fitting papers", "glossary"])
def test_a_missing_data_folder_is_an_error(tmp_path, name):
    module, *command = name.split()
    given = [*command, "--home", str(tmp_path), "--data", str(tmp_path / "nowhere")]
    result = CliRunner().invoke(import_module(f"tools.{module}").main, given)
    assert (result.exit_code, "no collections in" in result.stderr) == (2, True)
