"""Korean nouns that the analysis takes apart where no particle follows are searched for whole."""

import pytest

from indexer.analysis import make_analyzer
from retriever.question.korean_words import with_whole_words

BILINGUAL = make_analyzer("bilingual", "discard")


def read(text, *in_glossary):
    tagged, parts = with_whole_words(text, BILINGUAL.tagged_tokens(text), BILINGUAL, lambda _: in_glossary)
    return [token[0] for token, _ in tagged], {noun: [token for _, token in parts[noun]] for noun in parts}


def test_a_noun_is_not_its_first_syllable_and_a_particle():
    assert read("비만 예방") == (["비만", "예방"], {"비만": ["비"]})


def test_a_noun_is_not_a_determiner_and_another_noun():
    assert read("이주 여성") == (["이주", "여성"], {"이주": ["이", "주"]})


def test_a_noun_is_not_a_verb():
    assert read("대학 도서관 사서") == (["대학", "도서", "관", "사서"], {"사서": ["살"]})


def test_a_noun_is_not_an_adverb_that_is_not_searched_for():
    assert read("설사 치료", "설사") == (["설사", "치료"], {})


@pytest.mark.parametrize("text", ["고혈압은 왜 위험한가?", "노년기의 고혈압을 어떻게 치료하는가?"])
def test_a_noun_of_the_glossary_keeps_the_part_that_the_analysis_drops(text):
    tokens, parts = read(text, "고혈압")

    assert "고혈압" in tokens
    assert parts["고혈압"][-1] == "혈압"


@pytest.mark.parametrize("text", ["미국에는 몇 개의 주가 있는가?", "학교에 가면 무엇을 받는가?"])
def test_a_particle_or_an_ending_in_a_sentence_is_not_the_end_of_a_noun(text):
    assert read(text, "주가", "가면")[1] == {}


@pytest.mark.parametrize(
    "text",
    [
        "이번 주에 비만 오면 무엇을 하나",
        "학교에 가면?",
        "할 수도 있다",
        "미국 주의 수",
        "비만과 당뇨",
        "기후변화 정책",
        "그리고 매우",
        "obesity prevention",
        "",
    ],
    ids=[
        "sentence",
        "question",
        "dependent noun",
        "particle",
        "whole",
        "compound",
        "adverbs",
        "English",
        "nothing",
    ],
)
def test_other_words_stay_as_they_are(text):
    assert read(text) == ([token[0] for token in BILINGUAL.analyze(text)], {})
