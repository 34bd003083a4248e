"""The experiment lexical-gap: words that questions and documents share, and ways to find other documents."""

import asyncio

import click
import pytest

from eval.experiments.materials import opened_materials
from eval.experiments.tables.lexical_gap import (
    ALL,
    GLOSSARY,
    STRATEGIES,
    TEN,
    WORDS,
    LexicalGap,
    documents_with_a_word,
    gap_of_topic,
    summary,
)

pytest_plugins = ["tests.generator.sample_index"]

KOREAN, ENGLISH = "SAMPLE-AGR-001", "SAMPLE-AGR-002"  # both on methane of rice paddies


@pytest.fixture
def call(sample_home, monkeypatch, tmp_path):
    monkeypatch.setenv("SHRAG_HOME", str(sample_home))
    (tmp_path / "topics").write_text("q\t논의 메탄 배출\n", "utf-8")
    (tmp_path / "qrels").write_text(f"q 0 {ENGLISH} 1\n")
    return LexicalGap.of(index="sample", topics=str(tmp_path / "topics"), qrels=str(tmp_path / "qrels"))


@pytest.fixture
def materials(call):
    with click.Context(click.Command("experiment")), opened_materials(call) as opened:
        yield opened


def sharing(materials, question, documents):
    return asyncio.run(documents_with_a_word(materials, question, documents))


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        ("논의 메탄 배출", {KOREAN}),
        ("methane of paddies", {KOREAN, ENGLISH}),  # the Korean paper has an English title
        ("the effect of what", set()),  # question words, and words of any paper
        ("", set()),
    ],
)
def test_a_document_shares_a_word_of_the_subject(materials, question, documents):
    assert sharing(materials, question, {KOREAN, ENGLISH}) == documents


def test_other_documents_are_not_counted(materials):
    assert sharing(materials, "논의 메탄 배출", {ENGLISH}) == set()
    assert sharing(materials, "논의 메탄 배출", set()) == set()


def test_the_glossary_finds_a_document_that_shares_no_word(call, materials):
    result = asyncio.run(gap_of_topic(call, materials, "q", "논의 메탄 배출"))

    record = result.record
    assert (record["sharing"], record["relevant"], record["languages"]) == (0, 1, "other")
    assert record["found"][WORDS] == 0
    assert record["found"][GLOSSARY] == record["found"][ALL] == record["found"][TEN] == 1
    assert STRATEGIES not in record["found"]


def test_topics_of_the_gap_are_counted_by_way(call, materials):
    def topic(sharing, words, glossary):
        found = {WORDS: words, GLOSSARY: glossary}
        return {"languages": "same", "relevant": 2, "sharing": sharing, "found": found}

    topics = [topic(0, 0, 2), topic(0, 0, 0), topic(1, 1, 0), topic(2, 2, 1)]

    outcome = summary(call, materials, topics)

    assert outcome.main == {
        "topics in the gap": 2.0,
        "share in the gap": 0.5,
        f"recovered, {WORDS}": 0.0,
        f"recovered, {GLOSSARY}": 0.5,
    }
    gap, ways = outcome.tables
    assert gap.rows[0][:4] == ("all", 4, 2, 50.0)
    assert ways.rows[1][:4] == (GLOSSARY, 2, 1, 50.0)
    assert ways.rows[2][2] == "needs a model"
    assert ways.rows[1][6] == 50.0  # one of the two others
    assert ways.rows[1][-1] == "1 / 2 / 1"
