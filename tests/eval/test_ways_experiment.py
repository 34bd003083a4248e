"""The table of the ways: what is counted for a question, and that every way can be asked."""

import asyncio

import pytest

from base.sample import SAMPLE
from eval.development.logistic import fit
from eval.development.relevance import report
from eval.experiments.collections import read_lines
from eval.experiments.ways import Outcome, figures, outcome, run_experiment
from eval.qrels import read_qrels
from generator.pipeline import AskRequest, answer_question
from tests.generator.sample_index import ENGLISH, settings_of
from tests.generator.test_pipeline import UNUSED

pytest_plugins = ["tests.generator.sample_index"]
TOPIC = {"query_id": "S18", "question": ENGLISH, "kind": "english"}
FIGURES = ["S@5", "holds the answer", "turned away", "rightly", "sentences", "passages", "ms"]


def test_what_became_of_a_question_is_read_off_its_answer(sample):
    asked = asyncio.run(answer_question(sample, AskRequest(ENGLISH, way="paper-qa-6"), settings_of(UNUSED)))
    found = outcome(TOPIC, asked, read_qrels(SAMPLE / "qrels.txt"), ["AEROGEL"])
    assert (found.answerable, found.found, found.holds, found.abstained) == (True, True, True, False)
    assert (found.sentences, found.passages) == (3, 1)
    assert outcome(TOPIC, asked, {}, ["graphene"]).found is False
    assert outcome(TOPIC, asked, {}, ["graphene"]).holds is False
    assert outcome(TOPIC, asked, {}, []).holds is None


def test_questions_without_an_answer_count_where_they_are_turned_away():
    right = Outcome(True, True, True, False, 2, 5, 10.0)
    missed = Outcome(True, False, False, True, 0, 0, 20.0)
    none = Outcome(False, False, None, True, 0, 0, 30.0)
    assert figures([right, missed, none]) == pytest.approx(
        dict(zip(FIGURES, [0.5, 0.5, 1, 1, 2 / 3, 5 / 3, 20.0], strict=True))
    )


def test_the_table_has_a_row_for_each_way(sample):
    rows = list(run_experiment(sample, settings_of(UNUSED), ["paper-qa-1", "paper-qa-3"], lambda *_: None))
    assert [row.subject["way"] for row in rows] == ["paper-qa-1", "paper-qa-3"]
    assert rows[0].figures["S@5"] < rows[1].figures["S@5"]


def test_every_question_with_known_strings_is_one_of_the_sample():
    known = {record["query_id"] for record in read_lines(SAMPLE / "answers.jsonl")}
    assert known <= {topic["query_id"] for topic in read_lines(SAMPLE / "topics.jsonl")}


def test_the_fit_tells_relevant_passages_from_others():
    rows = [{"lead": place / 10, "noise": float(place % 2)} for place in range(10)]
    judged = [[(row, place >= 7) for place, row in enumerate(rows)]] * 3
    weights = fit(*zip(*(pair for question in judged for pair in question), strict=True), balanced=True)
    assert list(weights) == ["bias", "lead", "noise"]
    assert weights["lead"] > 5 * abs(weights["noise"])
    assert report(judged, weights) == {
        "questions": 3,
        "AUROC": 1.0,
        "relevant kept": 1.0,
        "others kept": 0.0,
    }
