"""The project's own tables: collections, plain questions, ways and fits, with figures counted by hand."""

import asyncio
import gzip
import json
from typing import Any

import pytest
from click.testing import CliRunner

from base.progress import no_progress
from base.sample import SAMPLE
from eval.accepted import read_accepted
from tests.eval.experiments.calling import write_lines
from tests.generator.sample_index import settings_of
from tests.generator.test_pipeline import UNUSED
from tools.answers import PLAIN, Question, finding_row, plain_rows
from tools.collections import (
    Collection,
    prefixed,
    read_lines,
    scores_of,
    supporting,
    unseen,
    write_combined,
)
from tools.fitting import fit, passage_figures
from tools.ways import ask_by, row_of

pytest_plugins = ["tests.generator.sample_index"]


def test_the_combined_corpus_is_in_miracls_layout_with_prefixed_ids(tmp_path):
    for name, record in (
        ("ko/docs-0", {"docid": "1#0", "title": "한니발", "text": "장군이다."}),
        ("sf", {"id": "4983", "title": "Brain", "abstract": "Matter.", "lang": "en"}),
    ):
        path = write_lines(tmp_path / f"{name}.jsonl.gz", record)
        path.write_bytes(gzip.compress(path.read_bytes()))
    collections = [
        Collection("tydi-ko", "ko", {}, prefix="ko"),
        Collection("scifact", "sf.jsonl.gz", {}, prefix="sf"),
    ]
    write_combined(tmp_path / "combined.jsonl", tmp_path, collections)
    assert read_lines(tmp_path / "combined.jsonl") == [
        {"docid": "ko1#0", "title": "한니발", "text": "장군이다."},
        {"docid": "sf4983", "title": "Brain", "text": "Matter."},
    ]
    assert prefixed({"q1": {"1#0": 1}, "q2": {"2#0": 0}}, "ko") == {"q1": {"ko1#0": 1}, "q2": {"ko2#0": 0}}


def test_training_questions_that_are_in_dev_are_left_out():
    assert unseen({"t1": "Who  wrote it?", "t2": "Why?"}, {"d1": "who wrote it?"}) == {"t2": "Why?"}


def test_supporting_papers_are_relevant_and_both_must_be_among_the_first_ten(tmp_path):
    lines = ({"query_id": query_id, "question": "?", "supporting": ["5", "9"]} for query_id in ("q1", "q2"))
    qrels = supporting(write_lines(tmp_path / "questions.jsonl", *lines))
    run = {"q1": [("5", 3.0), ("1", 2.0), ("9", 1.0)], "q2": [("9", 1.0), ("2", 0.5)]}
    scores = scores_of(qrels, run, ("R@10", "both@10"))
    assert scores.means == {"R@10": 0.75, "both@10": 0.5}
    assert scores.per_query["both@10"] == {"q1": 1.0, "q2": 0.0}


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


def test_a_way_is_measured_by_its_answers(sample):
    rows = [
        row_of(way, asyncio.run(ask_by(way, sample, settings_of(UNUSED), no_progress)))
        for way in ("paper-qa-1", "paper-qa-3")
    ]
    assert rows[0]["S@5"] < rows[1]["S@5"]
    outcomes: list[dict[str, Any]] = [
        dict(
            zip(
                ("answerable", "found", "holds", "abstained", "sentences", "passages", "ms"),
                each,
                strict=True,
            )
        )
        for each in (
            (True, True, True, False, 2, 5, 10.0),
            (True, False, False, True, 0, 0, 20.0),
            (False, False, None, True, 0, 0, 30.0),
        )
    ]
    assert list(row_of("x", outcomes).values())[1:] == [0.5, 0.5, 1, 1, 2 / 3, 5 / 3, 20.0]


def test_the_fit_separates_relevant_passages_from_others():
    rows = [{"lead": place / 10, "noise": float(place % 2)} for place in range(10)]
    judged = [[(row, place >= 7) for place, row in enumerate(rows)]] * 3
    weights = fit(*zip(*(pair for question in judged for pair in question), strict=True), balanced=True)
    assert list(weights) == ["bias", "lead", "noise"]
    assert weights["lead"] > 5 * abs(weights["noise"])
    expected = {"questions": 3, "AUROC": 1.0, "relevant kept": 1.0, "others kept": 0.0}
    assert passage_figures(judged, weights) == expected


@pytest.mark.parametrize("folder", [SAMPLE, PLAIN])
def test_every_question_with_known_strings_is_one_of_its_folder(folder):
    topics = {json.loads(line)["query_id"] for line in (folder / "topics.jsonl").read_text().splitlines()}
    assert read_accepted(folder / "answers.jsonl").keys() <= topics


@pytest.mark.parametrize("name", ["ranking", "components", "fitting papers", "glossary"])
def test_a_missing_data_folder_is_an_error(tmp_path, name):
    from importlib import import_module

    module, *command = name.split()
    given = [*command, "--home", str(tmp_path), "--data", str(tmp_path / "nowhere")]
    result = CliRunner().invoke(import_module(f"tools.{module}").main, given)
    assert (result.exit_code, "no collections in" in result.stderr) == (2, True)
