"""The eight ways over passages: which steps each takes, with a model and without, and what bounds them."""

import asyncio
import json
from typing import Any

import pytest

from generator.pipeline import AskRequest, answer_question
from indexer.settings import IndexerSettings
from retriever.errors import UnknownPaper
from retriever.index import open_index
from tests.generator.finding_model import FindingModel
from tests.generator.language_model import settings
from tests.generator.sample_index import ENGLISH, UNANSWERABLE_ENGLISH, ask_model, settings_of
from tests.generator.test_pipeline import UNUSED
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever.full_papers import FULL_PAPERS

# Of each way the texts that it makes, and the steps behind them.
WAYS = {
    1: ("", "retrieve"),
    2: ("", "retrieve rerank"),
    3: ("queries", "retrieve fuse rerank"),
    4: ("hypotheses", "retrieve fuse rerank"),
    5: ("queries hypotheses", "retrieve fuse rerank"),
    6: ("queries", "retrieve fuse rerank filter"),
    7: ("queries hypotheses", "retrieve fuse rerank filter"),
    8: ("queries", "retrieve fuse draft rerank filter"),
}
SUBSTITUTES = {"queries": "statistical-queries", "hypotheses": "quoted-hypotheses"}

QUERIES = {"texts": ["aerogel barrier between pouch cells", "열폭주 전이 지연"]}
HYPOTHESES = {
    "texts": [
        "Silica aerogel sheets between cells delayed the propagation of thermal runaway.",
        "A cooling plate stopped the propagation after the second cell.",
    ]
}
SENTENCES = ["With 1 mm sheets the mean time was 94 s.", "The sheets cost 98765 dollars."]
BRIEF: dict[str, Any] = {
    "reasoning": "The first passage measured sheets of two thicknesses.",
    "title": "Aerogel sheets slow the spread",
    "body": [{"text": text, "citations": [1]} for text in SENTENCES],
}
REPLIES = {"queries": lambda _: QUERIES, "hypotheses": lambda _: HYPOTHESES, "answer": lambda _: BRIEF}


def ask(index, question, number, model=None, **request):
    """Answer by the way of this number."""
    way = f"paper-qa-{number}"
    if model:
        given = settings_of(UNUSED, llm=settings(retries=0))
        return ask_model(index, question, given, model, way=way, **request)
    return asyncio.run(answer_question(index, AskRequest(question, way=way, **request), settings_of(UNUSED)))


def names(asked):
    return [step["name"] for step in asked.trace.record["steps"]]


def step(asked, name):
    [found] = [step for step in asked.trace.record["steps"] if step["name"] == name]
    return found


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """Open an index of papers with full texts."""
    folder = tmp_path_factory.mktemp("full")
    build(folder, write_jsonl(folder / "papers.jsonl", FULL_PAPERS))
    with open_index(IndexerSettings(home=folder), "papers") as index:
        yield index


@pytest.mark.parametrize("number", WAYS)
def test_the_steps_of_each_way(sample, number):
    expanded, ends = (steps.split() for steps in WAYS[number])
    quoted = ask(sample, ENGLISH, number)
    assert names(quoted) == [*map(SUBSTITUTES.get, expanded), *ends, "quotation"]
    assert quoted.answer.written_by == "extractive"

    model = FindingModel(REPLIES)
    written = ask(sample, ENGLISH, number, model)
    assert names(written) == [*expanded, *ends, "answer"]
    assert written.answer.written_by == "tiny-writer-7b"
    assert len(step(written, "retrieve")["inputs"]["queries"]) == 1 + 2 * len(expanded)
    drafted = SENTENCES if number == 8 else None
    if "rerank" in ends:
        assert step(written, "rerank")["inputs"].get("guide") == drafted


def test_where_the_filter_leaves_nothing_the_answer_says_that_there_is_none(sample):
    model = FindingModel(REPLIES)
    asked = ask(sample, UNANSWERABLE_ENGLISH, 6, model)
    assert asked.evidence == ()
    assert asked.answer.abstained
    assert not model.calls["answer"]
    assert "no passage has a relevance above 0.6: there is none to answer from" in asked.result.notes


def test_a_written_answer_is_a_body_alone_cited_and_checked(sample):
    asked = ask(sample, ENGLISH, 2, FindingModel(REPLIES))
    cited = [(each.section, each.citations, each.check) for each in asked.answer.sentences]
    assert cited == [("body", ("SAMPLE-BAT-011",), "not checked")] * 2
    assert "measured sheets" not in json.dumps(asked.as_record())  # reasoning is in the trace alone
    assert "measured sheets" in step(asked, "answer")["model_call"]["text"]


@pytest.mark.parametrize(
    "reply",
    [
        {"texts": QUERIES["texts"][:1]},
        {"texts": [ENGLISH.upper().rstrip("?"), "another"]},
        {"texts": ["twice", " twice."]},
        "I suggest to search for aerogel.",
    ],
)
def test_other_than_two_further_texts_are_replaced_by_substitutes(sample, reply):
    asked = ask(sample, ENGLISH, 4, FindingModel({**REPLIES, "hypotheses": lambda _: reply}))
    assert step(asked, "hypotheses")["fallback"] == "quoted-hypotheses"
    assert any(note.startswith("quoted-hypotheses, the model failed") for note in asked.result.notes)
    texts = step(asked, "retrieve")["inputs"]["queries"]
    assert list(texts.values())[1:] == step(asked, "quoted-hypotheses")["output"]
    assert asked.answer.written_by == "tiny-writer-7b"


def test_a_topic_is_searched_alone_where_it_has_enough_passages(full):
    asked = ask(full, "What becomes of the layered cathode?", 3, topic="Wear of lithium cells")
    assert {hit.doc_id for hit in asked.evidence} == {"LONG"}
    assert step(asked, "topic")["output"]["doc_id"] == "LONG"
    assert "of_other_papers" not in step(asked, "retrieve")["output"]


def test_a_topic_with_few_passages_is_filled_up_and_a_note_says_so(full):
    asked = ask(full, "What are ceramic separators made of?", 1, topic="SHORT")
    assert asked.evidence[0].doc_id == "SHORT"
    assert len(asked.evidence) == 5
    assert step(asked, "retrieve")["output"]["of_other_papers"] == {"question": 4}
    assert (
        "passages of paper SHORT: 1, 5 are wanted; the others are filled in from other papers"
        in asked.result.notes
    )


def test_an_unknown_topic_is_an_error(full):
    with pytest.raises(UnknownPaper, match="contains no paper with the id or exact title 'nowhere'"):
        ask(full, "cathode?", 1, topic="nowhere")
