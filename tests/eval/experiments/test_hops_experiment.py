"""The experiment hops: rankings without and with the second search, and by the steps of strategies."""

import asyncio
import json

import click
import pytest
from click.testing import CliRunner

from eval.experiments.commands import experiment
from eval.experiments.experiment import NEEDS_MODEL, StrategyCall
from eval.experiments.materials import opened_materials
from eval.experiments.tables.hops import ALL, ONE, SECOND, SHOWN, STEPS, summary, treatments_of_topic
from tests.fixture_model import fixture_model

pytest_plugins = ["tests.generator.sample_index"]

ONE_STEP = "논의 메탄 배출"
SEVERAL = (
    "기우제 기록으로 복원한 가뭄 지수가 가장 높았던 시기는 언제이며, 그 무렵 대구 호적에 오른 호수는 얼마나 "
    "줄었는가?"
)
QRELS = "q1 0 SAMPLE-AGR-001 1\nq2 0 SAMPLE-HIS-001 2\nq2 0 SAMPLE-HIS-005 2\n"
STRATEGIES = (
    {"query_id": "q1", "ko": ["논", "메탄"]},
    {
        "query_id": "q2",
        "ko": ["기우제", "가뭄 지수", "호적"],
        "steps": ["가뭄 지수가 가장 높았던 시기는 언제인가?", "대구 호적에 오른 호수는 얼마나 줄었는가?"],
    },
)


@pytest.fixture
def files(sample_home, monkeypatch, tmp_path):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    (tmp_path / "topics").write_text(f"q1\t{ONE_STEP}\nq2\t{SEVERAL}\n", "utf-8")
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "strategies").write_text("\n".join(map(json.dumps, STRATEGIES)), "utf-8")
    return {name: str(tmp_path / name) for name in ("topics", "qrels", "strategies")}


@pytest.fixture
def materials(files):
    call = StrategyCall.of(index="sample", **files)
    with click.Context(click.Command("experiment")), opened_materials(call) as opened:
        yield opened


@pytest.mark.parametrize(("query_id", "steps"), [("q1", 0), ("q2", 2)])
def test_the_steps_of_a_strategy_are_searched_for(materials, query_id, steps):
    question = materials.topics[query_id]
    found = asyncio.run(treatments_of_topic(StrategyCall(topics="", qrels=""), materials, query_id, question))

    assert found.record["steps"] == steps
    assert list(found.record["values"]) == [ONE, SECOND, STEPS]
    assert (found.rankings["steps-of-the-strategy"] == found.rankings["with-the-second-search"]) is not steps
    assert found.record["values"][STEPS][ALL] == 1.0


def test_treatments_are_compared_by_group(materials):
    def topic(steps, one, second):
        values = {ONE: dict.fromkeys(SHOWN, one), SECOND: dict.fromkeys(SHOWN, second)}
        return {"steps": steps, "second search": one != second, "values": values}

    topics = [topic(2, 0.0, 1.0), topic(2, 1.0, 1.0), topic(0, 1.0, 0.0)]

    outcome = summary(StrategyCall(topics="", qrels=""), materials, topics)

    assert outcome.main[f"nDCG@10, {ONE}"] == pytest.approx(2 / 3)
    table, times = outcome.tables
    rows = {row[:3]: row[3:] for row in table.rows}
    assert rows["strategies without steps", 1, SECOND][:4] == (0.0, 0.0, 0.0, 0.0)
    assert rows["all topics", 3, SECOND][-1] == "1 / 1 / 1"
    assert rows["all topics", 3, STEPS][0] == NEEDS_MODEL
    assert times.timed


@pytest.mark.needs_libraries  # matplotlib
def test_the_steps_of_a_model_are_searched_for(files, monkeypatch, tmp_path):
    arguments = ["hops", files["topics"], files["qrels"], "--name", "sample"]
    with fixture_model() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        made = CliRunner().invoke(experiment, [*arguments, "--model", "--out", str(tmp_path / "made")])

    assert made.exit_code == 0, made.output
    records = [json.loads(line) for line in (tmp_path / "made" / "topics.jsonl").read_text().splitlines()]
    assert list(records[1]["values"]) == [ONE, SECOND, STEPS]
