"""The experiment exclusions: exclusions in questions, NOT clauses, and excluded papers among the first."""

import asyncio
from pathlib import Path

import click
import pytest

from base.errors import InvalidCall
from eval.reproduction.experiment import JudgedCall
from eval.reproduction.experiments.exclusions import (
    IGNORED,
    LAST,
    NOT,
    NOT_TITLE,
    OR,
    OR_REST,
    ROWS,
    opened,
    rows_of_topic,
    summary,
)
from eval.reproduction.question_exclusions import (
    WITHOUT,
    WRITTEN,
    exclusions_of,
    without_names,
)
from retriever.constraints.parsing import Constraints
from retriever.queries.boolean import Or, Term, describe
from retriever.query_plan import NamedQuery, QueryPlan
from tests.indexer.made_corpora import build

UNUSED = JudgedCall(topics="", qrels="")
HELD_OUT = Path(__file__).resolve().parents[3] / "sample" / "held-out"


@pytest.mark.parametrize(
    ("question", "kind", "excluded"),
    [
        ("초음파를 빼고 청동 종의 균열을 찾는 방법", WRITTEN, ["초음파"]),
        ("Smoke and scent effects on people, except sandalwood", WRITTEN, ["sandalwood"]),
        ("Which regimens eradicate the infection without bismuth?", WITHOUT, ["bismuth"]),
        ("How long can a camel go without any water in the desert?", WITHOUT, ["water"]),
        ("낙타는 물 없이 얼마나 사는가?", WITHOUT, ["물"]),
    ],
)
def test_an_exclusion_is_written_or_a_property(question, kind, excluded):
    found, constraints = exclusions_of(question, 2026) or (None, Constraints())
    assert (found, [each.text for each in constraints.exclusions]) == (kind, excluded)


@pytest.mark.parametrize(
    "question", ["Who wrote it?", "혈구세포를 끊임없이 만드는 세포", "나이에 상관 없이 하는 운동"]
)
def test_other_questions_have_no_exclusion(question):
    assert exclusions_of(question, 2026) is None


def test_the_words_of_an_exclusion_are_left_out_of_the_question():
    found = exclusions_of("How long can a camel go without water?", 2026)
    assert found
    _, constraints = found
    assert constraints.remaining("How long can a camel go without water?") == "How long can a camel go ?"


def test_not_is_joined_to_each_query():
    plan = QueryPlan((NamedQuery("SQ1", Or((Term("bell", ("bell",)),)), 10),))
    [changed] = without_names(["silk", "thermal imag"])(plan).queries
    assert describe(changed.query) == '(bell) AND NOT (silk OR "thermal imag")'
    assert without_names([])(plan) is plan


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    build(folder, HELD_OUT / "papers.jsonl", name="held-out")
    return folder


@pytest.fixture
def materials(home, monkeypatch, tmp_path):
    monkeypatch.setenv("SHRAG_HOME", str(home))

    def of(topics, qrels):
        (tmp_path / "topics").write_text(topics, "utf-8")
        (tmp_path / "qrels").write_text(qrels, "utf-8")
        call = JudgedCall.of(index="held-out", topics=str(tmp_path / "topics"), qrels=str(tmp_path / "qrels"))
        return click.Context(click.Command("experiment")), opened(call)

    return of


BELLS = "F21\t초음파를 빼고 청동 종의 균열을 찾는 방법에는 무엇이 있는가?\n"


def test_not_and_the_default_order_keep_excluded_papers_out_of_the_first(materials):
    context, opening = materials(BELLS, "F21 0 HELD-BEL-05 2\nF21 0 HELD-BEL-06 -1\n")
    with context, opening as inputs:
        [(query_id, question)] = inputs.topics.items()
        record = asyncio.run(rows_of_topic(UNUSED, inputs, query_id, question)).record

    assert (record["kind"], record["exclusions"]) == (WRITTEN, ["초음파"])
    assert (record["relevant"], record["excluded"]) == (1, 1)
    excluded = {name: row["excluded@5"] for name, row in record["rows"].items()}
    assert excluded == {OR: 1, OR_REST: 1, NOT: 0, NOT_TITLE: 0, IGNORED: 1, LAST: 0}
    assert {row["relevant@10"] for row in record["rows"].values()} == {1}


def test_topics_without_an_exclusion_are_counted(materials):
    context, opening = materials(f"{BELLS}q\tbells\n", "F21 0 HELD-BEL-05 2\nq 0 HELD-BEL-06 1\n")
    with context, opening as inputs:
        assert list(inputs.topics) == ["F21"]
        assert inputs.notes()[0].startswith("1 topic")


def test_excluded_papers_may_be_listed_in_the_topics(materials):
    question = BELLS.strip().split("\t")[1]
    topics = f'{{"_id": "F21", "text": "{question}", "excluded": ["HELD-BEL-06", 2]}}\n'
    context, opening = materials(topics, "F21 0 HELD-BEL-05 2\n")
    with context, opening as inputs:
        assert inputs.excluded == {"F21": {"HELD-BEL-06", "2"}}


def test_topics_that_exclude_nothing_are_refused(materials):
    context, opening = materials("q\tbells\n", "q 0 HELD-BEL-06 1\n")
    with context, pytest.raises(InvalidCall, match="no topic"), opening:
        pass


def test_the_kinds_of_exclusions_have_tables_of_their_own(materials):
    def topic(kind, relevant, excluded):
        counts = {"relevant@5": 0, "relevant@10": relevant, "excluded@5": excluded, "excluded@10": excluded}
        return {"kind": kind, "relevant": 2, "excluded": excluded, "rows": dict.fromkeys(ROWS, counts)}

    context, opening = materials(BELLS, "F21 0 HELD-BEL-05 2\n")
    with context, opening as inputs:
        outcome = summary(UNUSED, inputs, [topic(WRITTEN, 1, 3), topic(WRITTEN, 2, 0), topic(WITHOUT, 2, 0)])

    assert outcome.main["topics, written exclusions"] == 2
    assert outcome.main[f"relevant@10, {WRITTEN}, {OR}"] == 0.75
    assert outcome.main[f"excluded@5, {WRITTEN}, {OR}"] == 3  # of the topic with judged excluded papers
    assert f"excluded@5, {WITHOUT}, {OR}" not in outcome.main
    assert [table.title.partition(":")[0] for table in outcome.tables] == [
        "Written exclusions",
        "Written exclusions",
        "Without X",
        "Without X",
    ]
