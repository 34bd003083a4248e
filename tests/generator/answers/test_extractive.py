"""Answers without a model: what is quoted, in which order, and when there is nothing to quote."""

import json

import pytest

from generator.answers.extractive import extractive_answer
from indexer.corpora.papers import language_of
from retriever.queries.boolean import single
from retriever.queries.keywords import Keyword
from retriever.question.concepts import Concept, Counterpart, Word
from tests.generator.sample_index import (
    ENGLISH,
    KOREAN,
    UNANSWERABLE_ENGLISH,
    UNANSWERABLE_KOREAN,
    found,
    passage,
    result_of,
)
from tests.indexer.made_corpora import ROOT

pytest_plugins = ["tests.generator.sample_index"]

TOPICS = [
    json.loads(line) for line in (ROOT / "sample/topics.jsonl").read_text(encoding="utf-8").splitlines()
]
NEVER, ALWAYS = 0.0, 1.01  # thresholds below which an answer abstains
RIVER = (Keyword("river", "en", ("river",), 2.0), Keyword("flood", "en", ("flood",), 1.0))


def texts(answer):
    return [sentence.text for sentence in answer.sentences]


def quoted_from(sample, *passages, question="river?", keywords=RIVER, **options):
    """Return the sentences that are quoted from passages, best paper first."""
    return texts(
        extractive_answer(
            result_of(*passages, question=question, keywords=keywords, **options), sample, NEVER
        )
    )


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic["query_id"])
def test_every_sentence_of_every_sample_answer_is_in_the_passage_it_cites(sample, topic):
    result = found(sample, topic["question"])
    answer = extractive_answer(result, sample, NEVER)
    evidence = {hit.passage_id: hit.passage for hit in result.hits}
    assert len(answer.sentences) <= 6
    for sentence in answer.sentences:
        (cited,) = sentence.citations
        assert sentence.text in evidence[cited].text
        assert (sentence.section, sentence.check) == ("passages", "quoted")
    assert len(set(texts(answer))) == len(answer.sentences)
    assert (answer.written_by, answer.abstained) == ("extractive", not answer.sentences)


@pytest.mark.parametrize(
    ("question", "language", "title"),
    [(KOREAN, "ko", "도움이 될 만한 구절"), (ENGLISH, "en", "Passages that may help")],
    ids=["Korean", "English"],
)
def test_quotations_are_passages_that_may_help(sample, question, language, title):
    record = extractive_answer(found(sample, question), sample, NEVER).as_record()
    assert (record["title"], record["language"]) == (title, language)
    assert (record["introduction"], record["body"], record["conclusion"]) == ("", "", "")


def test_an_english_question_is_answered_by_korean_sentences_that_hold_its_counterparts(sample):
    question = "How does the carbonization temperature of hard carbon change its capacity?"
    answer = extractive_answer(found(sample, question), sample, NEVER)
    assert {language_of(text) for text in texts(answer)} == {"ko"}
    assert {sentence.citations for sentence in answer.sentences} == {("SAMPLE-BAT-010",)}


@pytest.mark.parametrize("question", [UNANSWERABLE_KOREAN, UNANSWERABLE_ENGLISH], ids=["Korean", "English"])
def test_below_the_threshold_it_abstains(sample, question):
    answer = extractive_answer(found(sample, question), sample, ALWAYS)
    assert (answer.abstained, answer.sentences) == (True, ())


def test_the_threshold_itself_is_enough(sample):
    result = result_of(
        passage("A", "Otters like the river."), question="Which river?", keywords=RIVER, likelihood=0.4
    )
    assert not extractive_answer(result, sample, 0.4).abstained
    assert extractive_answer(result, sample, 0.41).abstained


def test_without_hits_it_abstains(sample):
    answer = extractive_answer(result_of(question="강은 어디로 흐르는가?"), sample, NEVER)
    assert (answer.abstained, answer.language) == (True, "ko")


def test_without_a_sentence_that_fits_it_abstains(sample):
    result = result_of(passage("A", "Where does the river flow?"), question="river?", keywords=RIVER)
    assert extractive_answer(result, sample, NEVER).abstained


def test_one_sentence_that_fits_is_quoted_alone(sample):
    assert quoted_from(sample, passage("A", "The river is long. Nobody knows why.")) == ["The river is long."]


def test_the_sentence_that_holds_most_of_the_question_comes_first(sample):
    text = "Fish like the river. A flood of the river came. Birds left the river."
    assert quoted_from(sample, passage("A", text)) == [
        "A flood of the river came.",
        "Fish like the river.",
        "Birds left the river.",
    ]


def test_sentences_in_the_question_s_language_come_first(sample):
    korean = passage("A", "강물의 river flood 때문에 배가 멈추었다.", lang="ko")
    english = passage("B", "Fish like the river.")
    assert quoted_from(sample, korean, english) == [
        "Fish like the river.",
        "강물의 river flood 때문에 배가 멈추었다.",
    ]


def test_at_most_six_sentences_are_quoted(sample):
    animals = "Otters Herons Pikes Eels Frogs Newts Swans Geese".split()
    text = " ".join(f"{animal} like the river." for animal in animals)
    assert quoted_from(sample, passage("A", text)) == [f"{animal} like the river." for animal in animals[:6]]


def test_a_paper_far_below_the_best_one_is_not_quoted(sample):
    first, second, third = (
        passage(animal, f"{animal} like the river.") for animal in ("Pikes", "Eels", "Frogs")
    )
    # Their scores are 1, 1/2 and 1/3.
    assert quoted_from(sample, first, second, third) == ["Pikes like the river.", "Eels like the river."]


def test_a_paper_that_holds_little_of_the_question_is_not_quoted(sample):
    keywords = (Keyword("glacier", "en", ("glacier",), 8.0), *RIVER)
    assert quoted_from(sample, passage("A", "Fish like the river."), keywords=keywords) == []


def test_words_that_ask_do_not_count(sample):
    ask, river = (
        Concept(each, (Word({single(each): 1.0}, weight),)) for each, weight in (("how", 9.0), ("river", 1.0))
    )
    paper = passage("A", "Fish like the river.")
    assert quoted_from(sample, paper, question="how river", concepts=(ask, river)) == ["Fish like the river."]


def test_a_title_counts_for_its_paper_but_not_for_its_sentences(sample):
    paper = passage("A", "Nobody lives on the plain. The flood took the mill.", title="A river")
    assert quoted_from(sample, paper) == ["The flood took the mill."]


def test_a_counterpart_of_several_tokens_counts_where_they_are_adjacent(sample):
    thaw = ((0, "snow"), (1, "melt"))
    concept = Concept("해빙", (Word({single("해빙"): 1.0}, 2.0),), (Counterpart(thaw, 1.0, 2.0),))
    text = "Snow melt feeds the lake. Snow falls and metals melt elsewhere."
    assert quoted_from(sample, passage("A", text), question="해빙?", concepts=(concept,)) == [
        "Snow melt feeds the lake."
    ]


def test_a_sentence_that_repeats_the_question_is_not_quoted(sample):
    text = "Floods of the river in spring. A flood of the river came."
    assert quoted_from(sample, passage("A", text), question="floods of the river in spring") == [
        "A flood of the river came."
    ]


@pytest.mark.parametrize("again", ["A", "B"], ids=["in the same paper", "in another paper"])
def test_a_repeated_sentence_is_quoted_once(sample, again):
    texts_of = {"A": "The river flooded the old town in spring.", "B": ""}
    texts_of[again] = f"{texts_of[again]} The river flooded the old town in spring.".strip()
    passages = [passage(name, text) for name, text in texts_of.items() if text]
    assert quoted_from(sample, *passages) == ["The river flooded the old town in spring."]


def test_of_sentences_with_nearly_the_same_words_the_best_is_quoted(sample):
    first = passage("A", "The river flooded the old town in spring.")
    other = passage("B", "The river flooded the old town in autumn.")
    assert quoted_from(sample, first, other) == ["The river flooded the old town in spring."]


def test_sentences_with_other_numbers_are_not_the_same(sample):
    text = "The river flooded 12 old towns in spring. The river flooded 90 old towns in spring."
    assert len(quoted_from(sample, passage("A", text))) == 2


@pytest.mark.parametrize(
    ("question", "finding"),
    [
        ("기초연금과 노인 빈곤", "lowered the poverty rate by 6.1 percentage points"),
        (
            "아프리카돼지열병 확산을 늦춘 방법은?",
            "Wide-area fences slowed the front from 7.8 to 3.2 km",
        ),
        ("nurse burnout and social support", "상사의 지지가 높은 집단에서는 그 기울기가 절반으로 줄었다"),
    ],
    ids=["we find", "a number of change", "an association"],
)
def test_an_answer_opens_with_a_finding(sample, question, finding):
    first, *_ = texts(extractive_answer(found(sample, question), sample, NEVER))
    assert finding in first


def test_background_and_method_are_not_quoted_beside_a_finding(sample):
    text = "The river is feared. We measured the river. The river rose by 12%."
    assert quoted_from(sample, passage("A", text)) == ["The river rose by 12%."]


def test_a_text_without_aim_and_method_is_quoted_by_its_words(sample):
    text = "A flood of the river came. The river rose by 12%."
    assert quoted_from(sample, passage("A", text)) == ["A flood of the river came.", "The river rose by 12%."]
