"""The project's own tables, with figures counted by hand."""

import json

import pytest

from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from tests.conftest import BY_NIGHT
from tests.eval.experiments.calling import write_lines
from tools.answers import Question, finding_row, plain_rows, way_row
from tools.collections import scores_of, supporting, unseen
from tools.fitting import Example, balanced, effects, fit, passage_figures
from tools.pdf_fields import scores


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


GOLD = {
    "file": "a.pdf",
    "language": "en",
    "title": "Methane: and Water",
    "authors": ["José Lee", "Bo Kim"],
    "year": 2019,
    "doi": None,
    "arxiv": None,
    "abstract_begins": "Drained paddies emit less",
    "abstract_ends": "than flooded ones.",
    "headings": ["1 Introduction", "References"],
    "references": 0,
}
RECORD = {
    "title": "METHANE AND WATER",
    "authors": ["Jose Lee"],
    "year": 2018,
    "abstract": "Drained paddies emit less methane than flooded ones.",
    "sections": [{"title": "Introduction", "level": 1}, {"title": "Fields", "level": 2}],
    "reference_list": [],
}


def test_fields_are_scored_where_the_document_prints_them():
    rows = scores([GOLD], {"a.pdf": RECORD})
    assert {row["field"]: row["en"] for row in rows} == {
        "title": 1,
        "authors": pytest.approx(2 / 3),
        "year": 0,
        "doi": 0,
        "arxiv": 0,
        "abstract": 1,
        "headings": 1,
        "references": 1,
    }
    assert [row["all, papers"] for row in rows if row["field"] == "doi"] == [0]
    assert sum(row["all"] for row in scores([GOLD | {"references": 3}], {})) == 0  # it was not read


def test_the_fields_of_real_papers_are_found_in_both_languages(shared_data):
    folder = shared_data / "pdfs"
    golds = [json.loads(line) for line in (folder / "gold.jsonl").read_text("utf-8").splitlines()]
    if not BY_NIGHT:
        golds = golds[1::2]
    files = [folder / "files" / gold["file"] for gold in golds]
    read = [item for item in read_corpus(files, workers=2) if isinstance(item, Paper)]

    rows = scores(golds, {f"{paper.id}.pdf": paper.record() for paper in read})

    least = {"title": 0.85, "authors": 0.8, "year": 0.9, "doi": 0.9, "arxiv": 0.9, "abstract": 0.75}
    least |= {"headings": 0.75, "references": 0.75}
    shares = {row["field"]: row["all"] for row in rows}
    assert {field: share for field, share in shares.items() if share < least[field]} == {}
    assert [row["ko"] for row in rows if row["field"] == "abstract"] >= [0.65]
