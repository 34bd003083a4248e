"""The experiment hops: rankings with and without a second round, by the gate, and by the steps of a model."""

import asyncio
import json

import click
import pytest
from click.testing import CliRunner

from eval.reproduction.commands import experiment
from eval.reproduction.experiment import JudgedCall
from eval.reproduction.experiments.hops import (
    ALL,
    ALWAYS,
    AUTO,
    MODEL_ALWAYS,
    MODEL_AUTO,
    NEVER,
    SHOWN,
    summary,
    treatments_of_topic,
)
from eval.reproduction.materials import opened_materials
from tests.fixture_model import fixture_model

UNUSED = JudgedCall(topics="", qrels="")

pytest_plugins = ["tests.generator.sample_index"]

ONE = "q1\t논의 메탄 배출\n"
SEVERAL = (
    "q2\t기우제 기록으로 복원한 가뭄 지수가 가장 높았던 시기는 언제이며, "
    "그 무렵 대구 호적에 오른 호수는 얼마나 줄었는가?\n"
)
QRELS = "q1 0 SAMPLE-AGR-001 1\nq2 0 SAMPLE-HIS-001 2\nq2 0 SAMPLE-HIS-005 2\n"


@pytest.fixture
def materials(sample_home, monkeypatch, tmp_path):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    (tmp_path / "topics").write_text(ONE + SEVERAL, "utf-8")
    (tmp_path / "qrels").write_text(QRELS)
    call = JudgedCall.of(index="sample", topics=str(tmp_path / "topics"), qrels=str(tmp_path / "qrels"))
    with click.Context(click.Command("experiment")), opened_materials(call) as opened:
        yield opened


@pytest.mark.parametrize(("query_id", "several", "as_auto"), [("q1", False, NEVER), ("q2", True, ALWAYS)])
def test_the_gate_chooses_the_second_round(materials, query_id, several, as_auto):
    found = asyncio.run(treatments_of_topic(UNUSED, materials, query_id, materials.topics[query_id]))

    assert found.record["several steps"] is several
    assert found.rankings[AUTO] == found.rankings[as_auto]
    assert found.record["values"][AUTO] == found.record["values"][as_auto]
    assert list(found.record["values"]) == [NEVER, AUTO, ALWAYS]
    assert found.record["values"][NEVER]["Success@5"] == 1.0


def test_all_relevant_documents_are_asked_for(materials):
    found = asyncio.run(treatments_of_topic(UNUSED, materials, "q2", "가뭄 지수"))
    ids = {found for found, _ in found.rankings[NEVER]}
    assert found.record["values"][NEVER][ALL] == float({"SAMPLE-HIS-001", "SAMPLE-HIS-005"} <= ids)


def test_treatments_are_compared_by_group(materials):
    def topic(several, never, always):
        values = {NEVER: dict.fromkeys(SHOWN, never), ALWAYS: dict.fromkeys(SHOWN, always)}
        values[AUTO] = values[ALWAYS if several else NEVER]
        return {"several steps": several, "values": values}

    topics = [topic(True, 0.0, 1.0), topic(True, 1.0, 1.0), topic(False, 1.0, 0.0)]

    outcome = summary(UNUSED, materials, topics)

    assert outcome.main["nDCG@10, never"] == pytest.approx(2 / 3)
    assert outcome.main["nDCG@10, auto"] == 1.0
    assert outcome.main["share of several steps by the gate"] == pytest.approx(2 / 3)
    means, tests, times = outcome.tables
    assert ("one step by the gate", 1, ALWAYS, 0.0, 0.0, 0.0, 0.0) in means.rows
    assert ("several steps by the gate", AUTO, "R@10") in [row[:3] for row in tests.rows]
    assert [row[-1] for row in tests.rows if row[:3] == ("all topics", ALWAYS, "R@10")] == ["1 / 1 / 1"]
    assert times.timed


@pytest.mark.needs_libraries  # matplotlib
def test_the_steps_of_a_model_are_searched_for(sample_home, monkeypatch, tmp_path):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    (tmp_path / "topics").write_text(SEVERAL, "utf-8")
    (tmp_path / "qrels").write_text(QRELS)
    arguments = ["hops", str(tmp_path / "topics"), str(tmp_path / "qrels"), "--name", "sample"]
    with fixture_model() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        made = CliRunner().invoke(experiment, [*arguments, "--model", "--out", str(tmp_path / "made")])

    assert made.exit_code == 0, made.output
    [record] = [json.loads(line) for line in (tmp_path / "made" / "topics.jsonl").read_text().splitlines()]
    assert record["steps"] > 1
    assert list(record["values"]) == [NEVER, AUTO, ALWAYS, MODEL_AUTO, MODEL_ALWAYS]
    assert record["values"][MODEL_AUTO] == record["values"][MODEL_ALWAYS]
    assert record["values"][MODEL_ALWAYS][ALL] == 1.0
