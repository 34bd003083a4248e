"""The experiment exclusions: excluded papers among the first, by statistics and by strategies."""

import asyncio
import json
from pathlib import Path

import click
import pytest

from base.errors import InvalidCall
from eval.experiments.experiment import NEEDS_MODEL, StrategyCall
from eval.experiments.tables.exclusions import (
    IGNORED,
    LAST,
    NAMES,
    ROWS,
    opened,
    rows_of_topic,
    summary,
)
from tests.indexer.made_corpora import build

HELD_OUT = Path(__file__).resolve().parents[3] / "sample" / "held-out"
BELLS = "F21\t초음파를 빼고 청동 종의 균열을 찾는 방법에는 무엇이 있는가?\n"
QRELS = "F21 0 HELD-BEL-05 2\nF21 0 HELD-BEL-06 -1\n"
STRATEGY = {
    "query_id": "F21",
    "ko": ["청동 종", "균열"],
    "en": ["bronze bell", "crack"],
    "exclude": [{"ko": "초음파", "en": "ultrasonic"}],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    build(folder, HELD_OUT / "papers.jsonl", name="held-out")
    return folder


@pytest.fixture
def materials(home, monkeypatch, tmp_path):
    monkeypatch.setenv("SHRAG_HOME", str(home))

    def of(topics, qrels, strategy=None):
        (tmp_path / "topics").write_text(topics, "utf-8")
        (tmp_path / "qrels").write_text(qrels, "utf-8")
        files = {name: str(tmp_path / name) for name in ("topics", "qrels")}
        if strategy:
            (tmp_path / "strategies").write_text(json.dumps(strategy), "utf-8")
            files["strategies"] = str(tmp_path / "strategies")
        call = StrategyCall.of(index="held-out", **files)
        return call, click.Context(click.Command("experiment")), opened(call)

    return of


def test_not_and_the_formula_keep_excluded_papers_out_of_the_first(materials):
    call, context, opening = materials(BELLS, QRELS, STRATEGY)
    with context, opening as inputs:
        [(query_id, question)] = inputs.topics.items()
        record = asyncio.run(rows_of_topic(call, inputs, query_id, question)).record
        outcome = summary(call, inputs, [record])

    assert record["exclusions"] == {"statistics": ["초음파"], "strategies": ["초음파"]}
    excluded = {name: row["excluded"] for name, row in record["rows"].items()}
    assert excluded == {name: int(name.startswith((f"{ROWS[0]},", IGNORED))) for name in NAMES}
    assert {row["relevant"] for row in record["rows"].values()} == {1}
    assert outcome.main[f"excluded@5, {LAST}, strategies"] == 0


def test_rows_of_strategies_need_a_model_or_a_file(materials):
    call, context, opening = materials(BELLS, QRELS)
    with context, opening as inputs:
        [(query_id, question)] = inputs.topics.items()
        record = asyncio.run(rows_of_topic(call, inputs, query_id, question)).record
        [table] = summary(call, inputs, [record]).tables

    assert [row[0] for row in table.rows if row[1] == NEEDS_MODEL] == list(NAMES[4:])


def test_topics_that_exclude_no_paper_are_counted(materials):
    question = BELLS.strip().split("\t")[1]
    topics = [{"_id": "F21", "text": question, "excluded": ["HELD-BEL-06", 2]}, {"_id": "q", "text": "bells"}]
    lines = "".join(json.dumps(topic) + "\n" for topic in topics)
    _, context, opening = materials(lines, "F21 0 HELD-BEL-05 2\nq 0 HELD-BEL-06 1\n")
    with context, opening as inputs:
        assert list(inputs.topics) == ["F21"]
        assert inputs.excluded["F21"] == {"HELD-BEL-06", "2"}
        assert inputs.notes()[0].startswith("1 topic")


def test_topics_that_exclude_nothing_are_refused(materials):
    _, context, opening = materials("q\tbells\n", "q 0 HELD-BEL-06 1\n")
    with context, pytest.raises(InvalidCall, match="no topic"), opening:
        pass
