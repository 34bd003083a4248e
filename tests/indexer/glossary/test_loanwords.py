"""Hangul words and the English words they sound like."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.glossary.forms import Forms
from indexer.glossary.loanwords import spelt_words
from indexer.glossary.sounds import english_sound, hangul_sound, sound_distance
from indexer.glossary.storage import Glossary, write_glossary
from indexer.glossary.vocabulary import commonest

BILINGUAL = make_analyzer("bilingual")
VOCABULARY = """
    lithium battery polymer polymerization algorithm scheduling schedule simulation transformer lateral litter
    letter better butter buttery palm primer logarithm skeletal assimilation iron social none citizen energy
    theory method analysis model language learning system surface material yoga center water
""".split()


@pytest.fixture(scope="module")
def glossary(tmp_path_factory):
    path = tmp_path_factory.mktemp("loanwords") / "glossary.sqlite"
    words = tuple(spelt_words([(word, 5) for word in VOCABULARY], BILINGUAL))
    write_glossary(path, [], Forms(words=words))
    with Glossary.open(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("korean", "english", "token"),
    [
        ("리튬", "lithium", "lithium"),
        ("폴리머", "polymer", "polym"),
        ("알고리즘", "algorithm", "algorithm"),
        ("스케줄링", "scheduling", "schedul"),
        ("시뮬레이션", "simulation", "simul"),
        ("트랜스포머", "transformer", "transform"),
        ("시스템", "system", "system"),
    ],
)
def test_a_loanword_is_found_with_the_token_of_the_index(glossary, korean, english, token):
    found = glossary.loanword(korean)
    assert found is not None
    assert (found.word, found.token) == (english, token)


@pytest.mark.parametrize(
    "korean", "이론 소설 노인 시민 여가 논문 환자 교육 연구 상태 생태 사과 언어학 뿌리 값".split()
)
def test_a_korean_noun_that_sounds_like_an_english_word_is_none(glossary, korean):
    assert glossary.loanword(korean) is None


def test_of_two_words_that_sound_alike_none_is_taken(tmp_path):
    words = tuple(spelt_words([("drone", 5), ("drawn", 5)], BILINGUAL))
    write_glossary(tmp_path / "file", [], Forms(words=words))
    with Glossary.open(tmp_path / "file") as opened:
        assert opened.loanword("드론") is None


@given(st.text(max_size=30))
def test_any_text_can_be_asked(glossary, text):
    assert glossary.loanword(text) is None or hangul_sound(text) is not None


@pytest.mark.parametrize(
    ("korean", "english", "other"),
    [
        ("배터리", "battery", "butter"),
        ("그래핀", "graphene", "griffin"),
        ("센서", "sensor", "answer"),
        ("디지털", "digital", "detail"),
        ("바이러스", "virus", "various"),
    ],
)
def test_a_loanword_is_nearer_to_its_original_than_to_another_word(korean, english, other):
    sound = hangul_sound(korean)
    assert sound is not None
    assert sound_distance(sound, english_sound(english)) < sound_distance(sound, english_sound(other))


def test_the_same_sounds_are_no_distance_apart():
    assert sound_distance("nano", "nano") == 0


def test_a_syllable_that_no_loanword_has_tells_a_korean_word():
    assert hangul_sound("값") is None
    assert hangul_sound("abc") is None


def test_the_commonest_words_come_first():
    assert commonest(Counter({"iron": 1, "gold": 2, "copper": 2}), 2) == [("copper", 2), ("gold", 2)]
