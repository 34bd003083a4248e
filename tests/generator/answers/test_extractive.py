"""Answers without a model: quoted sentences, their order, and abstentions."""

import json

import pytest

from generator.answers.extractive import extractive_answer
from indexer.corpora.papers import language_of
from retriever.queries.keywords import Keyword
from tests.generator.sample_index import (
    UNANSWERABLE_ENGLISH,
    UNANSWERABLE_KOREAN,
    found,
    passage,
    quoted,
    result_of,
)
from tests.indexer.made_corpora import ROOT

TOPICS = [json.loads(line) for line in (ROOT / "sample/topics.jsonl").read_text("utf-8").splitlines()]
NEVER, ALWAYS = 0.0, 1.01  # thresholds below which an answer abstains
RIVER = (Keyword("river", "en", ("river",), 2.0), Keyword("flood", "en", ("flood",), 1.0))


def texts(answer):
    return [sentence.text for sentence in answer.sentences]


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic["query_id"])
def test_every_sentence_of_every_sample_answer_is_in_the_passage_it_cites(sample, topic):
    result = found(sample, topic["question"])
    answer = quoted(sample, result, NEVER)
    evidence = {hit.passage_id: hit.passage for hit in result.hits}
    assert len(answer.sentences) <= 6
    for sentence in answer.sentences:
        (cited,) = sentence.citations
        assert sentence.text in evidence[cited].text
        assert (sentence.section, sentence.check) == ("passages", "quoted")
    assert len(set(texts(answer))) == len(answer.sentences)
    assert (answer.written_by, answer.abstained) == ("extractive", not answer.sentences)


@pytest.mark.parametrize("question", [UNANSWERABLE_KOREAN, UNANSWERABLE_ENGLISH], ids=["Korean", "English"])
def test_below_the_threshold_it_abstains(sample, question):
    answer = quoted(sample, found(sample, question), ALWAYS)
    assert (answer.abstained, answer.sentences) == (True, ())


FLOODED = "The river flooded the old town in spring."
LIKES = "{} like the river."
LONG = f"Boats were kept {'far away ' * 51}for a year."
PIKES, FLOOD = "A river has many pikes.", "A flood of the river came."
NOBODY, BOATS = "Nobody swims in here.", "All boats came back."
ANIMALS = "Otters Herons Pikes Eels Frogs Newts Swans Geese".split()


@pytest.mark.parametrize(
    ("texts", "options", "expected"),
    [
        (["The river is long. Nobody knows why."], {}, ["The river is long."]),
        (
            ["Fish like the river. A flood of the river came. Birds left the river."],  # they touch
            {},
            ["Fish like the river. A flood of the river came. Birds left the river."],
        ),
        (
            ["강물의 river flood 때문에 배가 멈추었다.", "Fish like the river."],
            {},
            ["강물의 river flood 때문에 배가 멈추었다."],
        ),
        ([" ".join(map(LIKES.format, ANIMALS))], {}, [" ".join(map(LIKES.format, ANIMALS[:6]))]),
        ([*map(LIKES.format, ANIMALS[:3])], {}, [LIKES.format(ANIMALS[0])]),  # scores 1, 1/2, 1/3
        ([*map(LIKES.format, ANIMALS[:3])], {"likelihood": None}, [*map(LIKES.format, ANIMALS[:3])]),
        (
            ["Fish like the river."],
            {"keywords": (Keyword("glacier", "en", ("glacier",), 8.0), *RIVER)},
            [],
        ),
        (
            ["Floods of the river in spring. A flood of the river came."],
            {"question": "floods of the river in spring"},
            ["A flood of the river came."],
        ),
        ([f"{FLOODED} {FLOODED}"], {}, [FLOODED]),
        ([FLOODED, FLOODED], {}, [FLOODED]),
        ([FLOODED, FLOODED.replace("spring", "autumn")], {}, [FLOODED]),
        (
            ["The river flooded 12 old towns in spring. The river flooded 90 old towns in spring."],
            {},
            ["The river flooded 12 old towns in spring. The river flooded 90 old towns in spring."],
        ),
        (
            ["It lay on two soils. The flood lasted 3 days. On sand it did not differ. Why was it so?"],
            {"keywords": (Keyword("flood", "en", ("flood",), 1.0),)},
            ["It lay on two soils. The flood lasted 3 days. On sand it did not differ."],
        ),
        ([f"A flood came to Busan. {LONG}"], {}, ["A flood came to Busan."]),
        (
            [f"{PIKES} {NOBODY} {BOATS} {NOBODY} {BOATS} {FLOOD}"],
            {},
            [f"{PIKES} {NOBODY}", f"{BOATS} {FLOOD}"],
        ),
        ([f"{FLOOD} {NOBODY} {BOATS} {LONG} {PIKES}"], {}, [f"{FLOOD} {NOBODY}"]),
        (
            [" ".join([FLOOD, *map(LIKES.format, ANIMALS)]), PIKES],
            {"likelihood": None},
            [" ".join([FLOOD, *map(LIKES.format, ANIMALS[:4])]), PIKES],
        ),
    ],
)
def test_quoted_sentences(sample, texts, options, expected):
    passages = [passage(f"P{number}", text, lang=language_of(text)) for number, text in enumerate(texts)]
    result = result_of(*passages, **{"question": "river?", "keywords": RIVER} | options)
    assert [each.text for each in extractive_answer(result, sample, None, NEVER).sentences] == expected
