"""Titles of answers without a model: the question's nouns, as they stand in it."""

import unicodedata

import pytest

from generator import titles
from indexer.analysis import make_analyzer
from indexer.analysis.user_dictionary import parse_user_dictionary
from retriever.keywords import Keyword

BILINGUAL = make_analyzer("bilingual")


def korean(*texts):
    return [Keyword(text, "ko", (text,)) for text in texts]


def english(*texts):
    return [Keyword(text, "en", (text,)) for text in texts]


def title_on(question, keywords, language, analyzer=BILINGUAL):
    return titles.title_on(question, keywords, language, analyzer)


@pytest.mark.parametrize(
    ("question", "keywords", "title"),
    [
        (
            "기온이 떨어지면 배터리 성능은 얼마나 떨어지나?",
            ["떨어지", "기온", "성능"],
            "기온, 성능에 관한 문헌의 서술",
        ),
        ("지식 그래프로 환각을 줄일 수 있는가?", ["줄일", "수", "있", "환각"], "환각에 관한 문헌의 서술"),
        ("간호사의 회복탄력성은 어떠한가?", ["회복탄력", "간호사"], "회복탄력성, 간호사에 관한 문헌의 서술"),
        (
            "리튬 덴드라이트를 막는 방법은?",
            ["덴드라이트", "막", "리튬"],
            "덴드라이트, 리튬에 관한 문헌의 서술",
        ),
        ("손실을 막는 손 소독은?", ["손"], "손에 관한 문헌의 서술"),
    ],
)
def test_only_nouns_stand_in_a_korean_title_as_they_stand_in_the_question(question, keywords, title):
    assert title_on(question, korean(*keywords), "ko") == title


def test_a_decomposed_question_has_the_title_of_the_composed_one():
    question = unicodedata.normalize("NFD", "성능은 얼마나 떨어지는가?")
    assert title_on(question, korean("떨어지", "성능"), "ko") == "성능에 관한 문헌의 서술"


def test_at_most_three_words_stand_in_a_title_each_once():
    keywords = english("river", "flood", "river", "plain", "town")
    assert (
        title_on("river flood plain town", keywords, "en") == "What the passages say on river, flood, plain"
    )


def test_keywords_that_are_not_in_the_question_are_taken_as_they_are():
    assert title_on("RAG란?", korean("검색증강생성"), "ko") == "검색증강생성에 관한 문헌의 서술"


def test_where_the_question_has_no_noun_the_other_language_s_keywords_are_named():
    keywords = [*korean("떨어지"), *english("falling")]
    assert title_on("왜 떨어지는가?", keywords, "ko") == "falling에 관한 문헌의 서술"


def test_without_any_noun_a_title_names_nothing():
    assert title_on("왜 떨어지는가?", korean("떨어지"), "ko") == "찾은 문헌의 서술"
    assert title_on("?", (), "en") == "What the passages say"


def test_a_term_of_the_users_dictionary_is_a_noun():
    question, keywords = "보다나는 얼마나 팔리나?", korean("보다나")
    own = make_analyzer("bilingual", "discard", parse_user_dictionary("보다나".encode(), "terms"))

    assert title_on(question, keywords, "ko") == "찾은 문헌의 서술"
    assert title_on(question, keywords, "ko", own) == "보다나에 관한 문헌의 서술"


def test_an_analyzer_without_parts_of_speech_lets_all_keywords_be_named():
    english_alone = make_analyzer("english")
    assert title_on("성능은?", korean("성능은"), "ko", english_alone) == "성능은에 관한 문헌의 서술"
