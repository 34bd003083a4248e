"""The eight ways over passages: which steps each takes, with a model and without, and what bounds them."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from generator.pipeline import AskRequest, Settings, answer_question
from generator.settings import GeneratorSettings
from generator.ways import make_request
from indexer.settings import IndexerSettings
from retriever.errors import UnknownPaper
from retriever.index import open_index
from retriever.settings import RetrieverSettings
from tests.generator.language_model import settings
from tests.generator.model_by_stage import ByStage
from tests.generator.sample_index import (
    ENGLISH,
    NAME,
    UNANSWERABLE_ENGLISH,
    ask_model,
    settings_of,
    shrag,
)
from tests.generator.test_pipeline import UNUSED
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever.full_papers import FULL_PAPERS

pytest_plugins = ["tests.generator.sample_index"]

WAYS = range(1, 9)
RETRIEVE_BY = {1: 1, 2: 1, 3: 3, 4: 3, 5: 5, 6: 3, 7: 5, 8: 3}
# Of each way the steps behind those that make queries.
ENDS = {
    1: ["retrieve"],
    2: ["retrieve", "rerank"],
    3: ["retrieve", "fuse", "rerank"],
    4: ["retrieve", "fuse", "rerank"],
    5: ["retrieve", "fuse", "rerank"],
    6: ["retrieve", "fuse", "rerank", "filter"],
    7: ["retrieve", "fuse", "rerank", "filter"],
    8: ["retrieve", "fuse", "draft", "rerank", "filter"],
}
EXPANDED_BY = {
    1: [],
    2: [],
    3: ["queries"],
    4: ["hypotheses"],
    5: ["queries", "hypotheses"],
    6: ["queries"],
    7: ["queries", "hypotheses"],
    8: ["queries"],
}
SUBSTITUTES = {"queries": "statistical-queries", "hypotheses": "quoted-hypotheses"}

QUERIES = {"texts": ["aerogel barrier between pouch cells", "열폭주 전이 지연"]}
HYPOTHESES = {
    "texts": [
        "Silica aerogel sheets between cells delayed the propagation of thermal runaway.",
        "A cooling plate stopped the propagation after the second cell.",
    ]
}
BRIEF: dict[str, Any] = {
    "reasoning": "The first passage measured sheets of two thicknesses.",
    "title": "Aerogel sheets slow the spread",
    "body": [
        {
            "text": "With 1 mm silica aerogel sheets the mean time from cell to cell was 94 s.",
            "citations": [1],
        },
        {"text": "The sheets cost 98765 dollars.", "citations": [1]},
    ],
    "answered": True,
}
REPLIES: dict[str, list[Any]] = {"queries": [QUERIES], "hypotheses": [HYPOTHESES], "answer": [BRIEF]}


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


# Steps


@pytest.mark.parametrize("number", WAYS)
def test_the_steps_of_each_way_without_a_model(sample, number):
    asked = ask(sample, ENGLISH, number)
    assert names(asked) == [*map(SUBSTITUTES.get, EXPANDED_BY[number]), *ENDS[number], "quotation"]
    assert asked.answer.written_by == "extractive"
    assert not any("model_call" in each for each in asked.trace.steps())


@pytest.mark.parametrize("number", WAYS)
def test_the_steps_of_each_way_with_a_model(sample, number):
    model = ByStage(REPLIES)
    asked = ask(sample, ENGLISH, number, model)
    assert names(asked) == [*EXPANDED_BY[number], *ENDS[number], "answer"]
    assert asked.answer.written_by == "tiny-writer-7b"
    assert len(model.asked["answer"]) == 1 + (number == 8)
    assert len(step(asked, "retrieve")["inputs"]["queries"]) == RETRIEVE_BY[number]


def test_the_last_way_re_ranks_by_its_draft_and_shows_it(sample):
    asked = ask(sample, ENGLISH, 8, ByStage(REPLIES))
    draft = step(asked, "draft")
    assert [child["name"] for child in draft["steps"]] == ["answer"]
    assert draft["output"] == [each["text"] for each in BRIEF["body"]]
    assert step(asked, "rerank")["inputs"]["guide"] == draft["output"]


def test_where_the_filter_leaves_nothing_the_answer_says_that_there_is_none(sample):
    model = ByStage(REPLIES)
    asked = ask(sample, UNANSWERABLE_ENGLISH, 6, model)
    assert asked.evidence == ()
    assert asked.answer.abstained
    assert "answer" not in model.asked
    assert "no passage has a relevance above 0.6: there is none to answer from" in asked.result.notes


# Answers


def test_a_written_answer_is_a_body_alone_cited_and_checked(sample):
    asked = ask(sample, ENGLISH, 2, ByStage(REPLIES))
    assert [(each.section, each.citations, each.check) for each in asked.answer.sentences] == [
        ("body", ("SAMPLE-BAT-011",), "not checked"),
        ("body", ("SAMPLE-BAT-011",), "not checked"),
    ]
    assert "measured sheets" not in json.dumps(asked.as_record())  # reasoning is in the trace alone
    assert "measured sheets" in step(asked, "answer")["model_call"]["text"]


def test_the_prompt_holds_the_passages_the_topic_and_the_question(sample):
    model = ByStage(REPLIES)
    asked = ask(sample, ENGLISH, 1, model, topic="SAMPLE-BAT-011")
    [prompt] = model.asked["answer"]
    assert f"<question>\n{ENGLISH}\n</question>" in prompt
    title = asked.trace.record["evidence"][0]["title"]
    assert f"<topic>\n{title}\n</topic>" in prompt
    assert prompt.count("<passage number=") == 5


# What a model may write for two further texts

GOOD = QUERIES["texts"]
BAD = {
    "one": {"texts": GOOD[:1]},
    "the question again": {"texts": [ENGLISH.upper().rstrip("?"), GOOD[0]]},
    "twice the same": {"texts": [GOOD[0], f" {GOOD[0]}."]},
    "empty": {"texts": ["", " "]},
    "no list": {"texts": "query"},
    "no JSON": "I suggest to search for aerogel.",
    "refused": httpx.Response(400, json={"error": {"message": "no"}}),
}


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD)
@pytest.mark.parametrize(("number", "stage"), [(3, "queries"), (4, "hypotheses")])
def test_other_than_two_further_texts_are_replaced_by_substitutes(sample, number, stage, reply):
    asked = ask(sample, ENGLISH, number, ByStage({**REPLIES, stage: [reply]}))
    failed = step(asked, stage)
    assert failed["fallback"] == SUBSTITUTES[stage]
    assert names(asked)[:2] == [stage, SUBSTITUTES[stage]]
    assert any(note.startswith(f"{SUBSTITUTES[stage]}, the model failed") for note in asked.result.notes)
    texts = step(asked, "retrieve")["inputs"]["queries"]
    assert list(texts.values())[1:] == step(asked, SUBSTITUTES[stage])["output"]
    assert asked.answer.written_by == "tiny-writer-7b"


# Topics


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


@pytest.mark.parametrize("number", WAYS)
def test_an_unknown_topic_is_an_error(full, number):
    with pytest.raises(UnknownPaper, match="contains no paper with the id or exact title 'nowhere'"):
        ask(full, "cathode?", number, topic="nowhere")


def test_a_method_of_the_settings_is_no_obstacle():
    generator = GeneratorSettings(ask_method="paper")
    given = Settings(IndexerSettings(home=UNUSED), RetrieverSettings(), generator)
    assert make_request(given, "cathode?", way="paper-qa-3").method == "shrag"
    assert make_request(given, "cathode?", way="shrag").method == "paper"
    assert make_request(given, "cathode?", way="shrag", method="").method == "paper"
    assert make_request(given, "cathode?", way="paper-qa-3", hops="auto").method == "paper"


# From the command line


def test_the_command_takes_a_way_and_a_topic(sample_home, tmp_path):
    file = tmp_path / "trace.json"
    options = ("--name", NAME, "--way", "paper-qa-6", "--topic", "SAMPLE-BAT-011", "--json", "--trace", file)
    done = shrag("ask", ENGLISH, *options, home=sample_home)
    assert done.returncode == 0
    assert json.loads(done.stdout)["evidence"][0]["passage_id"] == "SAMPLE-BAT-011"
    request = json.loads(file.read_text(encoding="utf-8"))["request"]
    assert (request["way"], request["topic"]) == ("paper-qa-6", "SAMPLE-BAT-011")
