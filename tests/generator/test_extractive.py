"""Answers without a model: what is quoted, in which order, and when there is nothing to quote."""

import json

import pytest

from generator.extractive import extractive_answer
from indexer.papers import language_of
from retriever.keywords import Keyword
from tests.generator.sample_index import (
    ENGLISH,
    ENGLISH_OF_KOREAN,
    KOREAN,
    UNANSWERABLE_ENGLISH,
    UNANSWERABLE_KOREAN,
    found,
    passage,
    result_of,
)
from tests.indexer.corpora import ROOT

pytest_plugins = ["tests.generator.sample_index"]

TOPICS = [
    json.loads(line) for line in (ROOT / "sample/topics.jsonl").read_text(encoding="utf-8").splitlines()
]
NEVER, ALWAYS = 0.0, 1.01  # thresholds below which an answer abstains
RIVER = (Keyword("river", "en", ("river",), 2.0), Keyword("flood", "en", ("flood",), 1.0))


def texts(answer, section=None):
    return [sentence.text for sentence in answer.sentences if section in {None, sentence.section}]


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic["query_id"])
def test_every_sentence_of_every_sample_answer_stands_in_the_passage_it_cites(sample, topic):
    result = found(sample, topic["question"])
    answer = extractive_answer(result, sample, NEVER)
    evidence = {hit.passage_id: hit.passage for hit in result.hits}
    assert 1 <= len(answer.sentences) <= 8
    for sentence in answer.sentences:
        (cited,) = sentence.citations
        assert sentence.text in evidence[cited].text
        assert sentence.check == "supported"
    assert len(set(texts(answer))) == len(answer.sentences)
    assert (answer.written_by, answer.abstained) == ("extractive", False)


@pytest.mark.parametrize(
    ("question", "language", "title"),
    [(KOREAN, "ko", "에 관한 문헌의 서술"), (ENGLISH, "en", "What the passages say on ")],
    ids=["Korean", "English"],
)
def test_title_and_language_are_the_question_s(sample, question, language, title):
    answer = extractive_answer(found(sample, question), sample, NEVER)
    assert answer.language == language
    assert title in answer.title


def test_quotations_stay_in_the_language_of_their_source(sample):
    answer = extractive_answer(found(sample, ENGLISH_OF_KOREAN), sample, NEVER)
    assert answer.language == "en"
    assert language_of(answer.sentences[0].text) == "ko"
    assert answer.sentences[0].citations == ("SAMPLE-BAT-010",)
    assert answer.as_text().splitlines()[2] == "Introduction"


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (UNANSWERABLE_KOREAN, "찾은 문헌에는 이 질문에 대한 답이 없습니다."),
        (UNANSWERABLE_ENGLISH, "The passages found do not answer this question."),
    ],
    ids=["Korean", "English"],
)
def test_below_the_threshold_it_says_that_there_is_no_answer(sample, question, says):
    answer = extractive_answer(found(sample, question), sample, ALWAYS)
    assert answer.abstained
    assert answer.sentences == ()
    assert answer.section("introduction") == says


def test_the_threshold_itself_is_enough(sample):
    result = result_of(passage("A", "A river."), question="Which river?", keywords=RIVER, evidence_score=0.4)
    assert not extractive_answer(result, sample, 0.4).abstained
    assert extractive_answer(result, sample, 0.41).abstained


def test_without_hits_there_is_no_answer(sample):
    answer = extractive_answer(result_of(question="강은 어디로 흐르는가?"), sample, NEVER)
    assert (answer.abstained, answer.language) == (True, "ko")


def test_the_best_sentence_opens_and_the_last_one_closes(sample):
    text = "Fish like the river. A flood of the river came. Birds left the river. Trees hide the river."
    answer = extractive_answer(
        result_of(passage("A", text), question="river?", keywords=RIVER), sample, NEVER
    )
    assert texts(answer, "introduction") == ["A flood of the river came."]
    assert texts(answer, "body") == ["Fish like the river.", "Birds left the river."]
    assert texts(answer, "conclusion") == ["Trees hide the river."]


def test_a_sentence_counts_by_what_each_of_its_tokens_weighs(sample):
    keywords = (
        Keyword("flood plain", "en", ("flood", "plain"), 3.0),
        Keyword("river", "en", ("river",), 2.0),
    )
    text = "The flood came at night. Nobody lived there then. The river was high."
    result = result_of(
        passage("A", text),
        question="flood plain river?",
        keywords=keywords,
        weights={"flood": 1.5, "plain": 1.5, "river": 2.0},
    )
    answer = extractive_answer(result, sample, NEVER)
    assert texts(answer, "introduction") == ["The river was high."]


def test_one_sentence_makes_an_introduction_and_two_add_a_body(sample):
    of_one = result_of(passage("A", "The river is long."), question="river?", keywords=RIVER)
    assert [part.section for part in extractive_answer(of_one, sample, NEVER).sentences] == ["introduction"]
    of_two = result_of(
        passage("A", "The river is long. Fish like the river."), question="river?", keywords=RIVER
    )
    assert [part.section for part in extractive_answer(of_two, sample, NEVER).sentences] == [
        "introduction",
        "body",
    ]


def test_at_most_eight_sentences_are_quoted(sample):
    animals = "Otters Herons Pikes Eels Frogs Newts Swans Geese Bats Toads".split()
    text = " ".join(f"{animal} like the river." for animal in animals)
    answer = extractive_answer(
        result_of(passage("A", text), question="river?", keywords=RIVER), sample, NEVER
    )
    assert len(animals) == 10
    assert len(answer.sentences) == 8


@pytest.mark.parametrize("again", ["A", "B"], ids=["in the same paper", "in another paper"])
def test_a_sentence_that_stands_twice_is_quoted_once(sample, again):
    texts_of = {"A": "The river flooded the old town in spring.", "B": ""}
    texts_of[again] = f"{texts_of[again]} The river flooded the old town in spring.".strip()
    passages = [passage(name, text) for name, text in texts_of.items() if text]
    answer = extractive_answer(result_of(*passages, question="river?", keywords=RIVER), sample, NEVER)
    assert texts(answer) == ["The river flooded the old town in spring."]


def test_another_paper_s_sentence_in_nearly_the_same_words_is_left_out(sample):
    first = passage("A", "The river flooded the old town in spring.")
    other = passage("B", "The river flooded the old town in autumn.")
    answer = extractive_answer(result_of(first, other, question="river?", keywords=RIVER), sample, NEVER)
    assert [sentence.citations for sentence in answer.sentences] == [("A",)]


def test_a_sentence_of_more_than_600_characters_is_not_quoted(sample):
    long = "The river " + "flood " * 100 + "ends."
    result = result_of(passage("A", f"{long} Fish like the river."), question="river?", keywords=RIVER)
    assert len(long) == 615
    assert texts(extractive_answer(result, sample, NEVER)) == ["Fish like the river."]


def test_the_title_names_the_keywords_of_the_question_s_language_first(sample):
    keywords = (Keyword("강", "ko", ("강",), 3.0), *RIVER)
    result = result_of(passage("A", "A river."), question="Which river floods?", keywords=keywords)
    assert extractive_answer(result, sample, NEVER).title == "What the passages say on river, flood"
