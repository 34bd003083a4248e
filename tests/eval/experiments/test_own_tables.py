"""The project's own tables: collections, plain questions and ways, with figures counted by hand."""

import asyncio
import gzip
import json

import pytest
from click.testing import CliRunner

from base.sample import SAMPLE
from eval.development.logistic import fit
from eval.development.relevance import report
from eval.experiments.collections import (
    Collection,
    prefixed,
    read_lines,
    scores_of,
    supporting,
    unseen,
    write_combined,
)
from eval.experiments.plain import figures_of, plain_rows
from eval.experiments.ranking import main
from eval.experiments.sample import Question, finding_figures
from eval.experiments.ways import figures, outcome, run_experiment
from eval.qrels import read_qrels
from generator.pipeline import AskRequest, answer_question
from tests.eval.experiments.calling import write_lines
from tests.generator.sample_index import ENGLISH, settings_of
from tests.generator.test_pipeline import UNUSED

pytest_plugins = ["tests.generator.sample_index"]


def test_the_combined_corpus_is_in_miracls_layout_with_prefixed_ids(tmp_path):
    for name, record in (
        ("ko/docs-0", {"docid": "1#0", "title": "한니발", "text": "장군이다."}),
        ("sf", {"id": "4983", "title": "Brain", "abstract": "Matter.", "lang": "en"}),
    ):
        path = write_lines(tmp_path / f"{name}.jsonl.gz", record)
        path.write_bytes(gzip.compress(path.read_bytes()))
    collections = [Collection("tydi-ko", "ko", "ko", {}), Collection("scifact", "sf", "sf.jsonl.gz", {})]
    write_combined(tmp_path / "combined.jsonl", tmp_path, collections)
    assert read_lines(tmp_path / "combined.jsonl") == [
        {"docid": "ko1#0", "title": "한니발", "text": "장군이다."},
        {"docid": "sf4983", "title": "Brain", "text": "Matter."},
    ]
    assert prefixed({"q1": {"1#0": 1}, "q2": {"2#0": 0}}, "ko") == {"q1": {"ko1#0": 1}, "q2": {"ko2#0": 0}}


def test_training_questions_that_are_in_dev_are_left_out():
    assert unseen({"t1": "Who  wrote it?", "t2": "Why?"}, {"d1": "who wrote it?"}) == {"t2": "Why?"}


def test_a_missing_data_folder_is_an_error(tmp_path):
    result = CliRunner().invoke(main, ["--home", str(tmp_path), "--data", str(tmp_path / "nowhere")])
    assert (result.exit_code, "no collections in" in result.stderr) == (2, True)


def test_supporting_papers_are_relevant_and_both_must_be_among_the_first_ten(tmp_path):
    lines = ({"query_id": query_id, "question": "?", "supporting": ["5", "9"]} for query_id in ("q1", "q2"))
    qrels = supporting(write_lines(tmp_path / "questions.jsonl", *lines))
    run = {"q1": [("5", 3.0), ("1", 2.0), ("9", 1.0)], "q2": [("9", 1.0), ("2", 0.5)]}
    scores = scores_of(qrels, run, ("R@10", "both@10"))
    assert qrels == {"q1": {"5": 1, "9": 1}, "q2": {"5": 1, "9": 1}}
    assert scores.means == {"R@10": 0.75, "both@10": 0.5}
    assert scores.per_query["both@10"] == {"q1": 1.0, "q2": 0.0}


def asked(scope, rank=None, likelihood=0.5, *, abstained=False, language="en", cross_lingual=False):
    topic = {"scope": scope, "language": language, "corpus": "sample", "cross_lingual": cross_lingual}
    return topic, Question("P1", "", rank, likelihood, abstained, quoted=0, to_the_point=0)


ASKED = [
    asked("in", 1, 0.9),
    asked("in", 2, 0.6, cross_lingual=True),
    asked("in", 3, 0.3, abstained=True),
    asked("in", None, 0.7),
    asked("near", likelihood=0.4, abstained=True),
    asked("far", likelihood=0.8),
]


def test_plain_questions_are_found_answered_and_declined_by_group():
    expected = {"in scope": 4, "found": 2 / 4, "answered": 3 / 4, "out of scope": 2, "declined": 1 / 2}
    assert figures_of(ASKED) == pytest.approx({**expected, "AUROC": (2 + 1 + 0 + 1) / 8})
    korean = (asked("in", 1, language="ko"), asked("far", language="ko"))
    rows = plain_rows([*ASKED, *korean], "tune", ["near", "cross-lingual", "Korean"])
    sizes = [(row.figures["in scope"], row.figures["out of scope"]) for row in rows]
    assert sizes == [(5, 1), (1, 3), (1, 1)]


def test_findings_among_the_quoted_sentences_are_counted():
    sentences = {
        "P1": ("Yields rose by 9%.", "Rice is grown.", "Methane fell by 5%."),
        "P2": ("Nurses work.", "Turnover fell by 3%."),
        "P3": (),
        "P4": ("Bees fly.",),  # without strings
    }
    questions = [Question(name, "", 1, 0.5, False, 0, 0, texts) for name, texts in sentences.items()]
    assert finding_figures(questions, {"P1": ["9%", "5%"], "P2": ["3%"], "P3": ["1%"]}) == {
        "questions": 3,
        "open with a finding": 0.333,
        "quote a finding": 0.667,
        "quoted sentences": 5,
        "findings among them": 0.6,
    }


def test_the_outcome_of_a_question_is_read_off_its_answer(sample):
    topic = {"query_id": "S18", "question": ENGLISH, "kind": "english"}
    answered = asyncio.run(
        answer_question(sample, AskRequest(ENGLISH, way="paper-qa-6"), settings_of(UNUSED))
    )
    found = outcome(topic, answered, read_qrels(SAMPLE / "qrels.txt"), ["AEROGEL"])
    assert list(found.values())[:-1] == [True, True, True, False, 3, 1]
    assert outcome(topic, answered, {}, ["graphene"])["found"] is False
    assert [outcome(topic, answered, {}, strings)["holds"] for strings in (["graphene"], [])] == [False, None]


def test_questions_without_an_answer_count_where_they_are_turned_away():
    names = ("answerable", "found", "holds", "abstained", "sentences", "passages", "ms")
    outcomes = [
        dict(zip(names, values, strict=True))
        for values in (
            (True, True, True, False, 2, 5, 10.0),
            (True, False, False, True, 0, 0, 20.0),
            (False, False, None, True, 0, 0, 30.0),
        )
    ]
    expected = {"S@5": 0.5, "holds the answer": 0.5, "turned away": 1, "rightly": 1}
    means = {"sentences": 2 / 3, "passages": 5 / 3, "ms": 20.0}
    assert figures(outcomes) == pytest.approx(expected | means)


def test_the_table_has_a_row_for_each_way(sample):
    rows = list(run_experiment(sample, settings_of(UNUSED), ["paper-qa-1", "paper-qa-3"], lambda *_: None))
    assert [row.subject["way"] for row in rows] == ["paper-qa-1", "paper-qa-3"]
    assert rows[0].figures["S@5"] < rows[1].figures["S@5"]


def test_the_fit_separates_relevant_passages_from_others():
    rows = [{"lead": place / 10, "noise": float(place % 2)} for place in range(10)]
    judged = [[(row, place >= 7) for place, row in enumerate(rows)]] * 3
    weights = fit(*zip(*(pair for question in judged for pair in question), strict=True), balanced=True)
    assert list(weights) == ["bias", "lead", "noise"]
    assert weights["lead"] > 5 * abs(weights["noise"])
    expected = {"questions": 3, "AUROC": 1.0, "relevant kept": 1.0, "others kept": 0.0}
    assert report(judged, weights) == expected


def test_every_question_with_known_strings_is_one_of_the_sample():
    known = {json.loads(line)["query_id"] for line in (SAMPLE / "answers.jsonl").read_text().splitlines()}
    assert known <= {topic["query_id"] for topic in read_lines(SAMPLE / "topics.jsonl")}
