"""Hangul words and the English words they sound like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.glossary.brackets import TRANSCRIBED
from indexer.glossary.loanwords import (
    consonant_similarity,
    english_sound,
    hangul_sound,
    sound_distance,
    spelt_words,
)
from indexer.glossary.storage import Glossary, write_glossary

BILINGUAL = make_analyzer("bilingual")
VOCABULARY = """
    lithium battery polymer polymerization algorithm scheduling schedule simulation transformer lateral litter
    letter better butter buttery palm primer logarithm skeletal assimilation iron social none citizen energy
    theory method analysis model language learning system surface material yoga center water aerogel
""".split()


@pytest.fixture(scope="module")
def glossary(tmp_path_factory):
    path = tmp_path_factory.mktemp("loanwords") / "glossary.sqlite"
    words = tuple(spelt_words([(word, 5) for word in VOCABULARY], BILINGUAL))
    write_glossary(path, [], words=words)
    with Glossary(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("리튬", "lithium"),
        ("폴리머", "polymer"),
        ("알고리즘", "algorithm"),
        ("스케줄링", "scheduling"),
        ("시뮬레이션", "simulation"),
        ("트랜스포머", "transformer"),
        ("시스템", "system"),
        ("에어로겔", "aerogel"),
        ("에어로젤", "aerogel"),
    ],
)
def test_a_loanword_is_found_with_the_token_of_the_index(glossary, korean, english):
    found = glossary.loanword(korean)
    assert (found.word, found.token) == (english, BILINGUAL.analyze(english)[0][0])


@pytest.mark.parametrize(
    "korean", "이론 소설 노인 시민 여가 논문 환자 교육 연구 상태 생태 사과 언어학 뿌리 값".split()
)
def test_a_korean_noun_that_sounds_like_an_english_word_is_none(glossary, korean):
    assert glossary.loanword(korean) is None


@given(st.text(max_size=30))
def test_any_text_can_be_compared(glossary, text):
    assert glossary.loanword(text) is None or hangul_sound(text) is not None
    assert consonant_similarity(text, text) <= 1


@pytest.mark.parametrize(
    ("korean", "english", "other"),
    [
        ("배터리", "battery", "butter"),
        ("그래핀", "graphene", "griffin"),
        ("센서", "sensor", "answer"),
        ("디지털", "digital", "detail"),
        ("데이트", "date", "debt"),
    ],
)
def test_a_loanword_is_nearer_to_its_original_than_to_another_word(korean, english, other):
    sound = hangul_sound(korean) or ""
    assert sound_distance(sound, english_sound(english)) < sound_distance(sound, english_sound(other))


@pytest.mark.parametrize(
    ("korean", "english", "alike"),
    [("산살바도르", "San Salvador", True), ("고체 전해질", "solid electrolyte", False), ("", "", False)],
)
def test_the_consonants_of_a_transcribed_name_agree(korean, english, alike):
    assert (consonant_similarity(korean, english) >= TRANSCRIBED) == alike
