"""A user's dictionary: its file, and the tokens of texts with its terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.errors import InvalidCall
from indexer.analysis import make_analyzer
from indexer.analysis.user_dictionary import Entry, parse_user_dictionary


def dictionary(text):
    return parse_user_dictionary(text.encode(), "terms.txt")


def terms(text, sentence, decompound="discard"):
    return [token[0] for token in make_analyzer("korean", decompound, dictionary(text)).analyze(sentence)]


WITHOUT, WITH_OTHER = make_analyzer("bilingual"), make_analyzer("bilingual", dictionary=dictionary("논두렁"))


@given(st.text(st.characters(codec="ascii")) | st.text(st.sampled_from("aB1 -.,\n"), max_size=40))
def test_a_term_that_a_text_does_not_hold_changes_nothing_in_it(text):
    assert WITHOUT.analyze(text) == WITH_OTHER.analyze(text)


def test_a_line_is_a_term_and_optionally_its_parts():
    found = dictionary("\ufeff# names\n\n세종시 세종 시  # a city\r\n\tKISTI\n한국 한국\n")

    assert found.entries == (Entry("KISTI"), Entry("세종시", ("세종", "시")), Entry("한국"))
    assert found.rules() == ["KISTI", "세종시 세종 시", "한국"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("세종시 세종", "line 1: .*세종시"),
        ("KISTI\n세종시 세종 시\n세종시", "line 3: .*line 2"),
        ("가\x00나", "line 1: .*U\\+0000"),
        ("\n" + "가" * 101, "line 2: .*101"),
        ("C#", "line 1: .*#"),
        ("1,4-다이옥산", "line 1: .* ,"),
        ("# nothing\n", "no terms"),
        ("", "no terms"),
    ],
)
def test_what_cannot_be_an_entry_is_told_with_its_line(text, fact):
    with pytest.raises(InvalidCall, match=rf"^terms\.txt.*{fact}"):
        dictionary(text)


@pytest.mark.parametrize(
    ("entries", "text", "tokens"),
    [
        ("딥러닝모델 딥러닝 모델", "딥러닝모델을", "딥러닝 모델"),
        # the longest term of a place, on every level of nesting
        ("세종시\n시청\n세종시청", "세종시청에 있는 시청", "세종시청 있 시청"),
        ("한밭정보원 한밭 정보원\n정보원\n정보", "한밭정보원의 정보원", "한밭 정보원 정보원"),
        # capitals and signs
        ("KoSearch", "KoSearch1 kosearch1", "kosearch 1 kosearch 1"),
        ("C++", "C++로 c++로", "cpp cpp"),
        ("(주)한밭", "시료는 (주)한밭에서 구입했다", "시료 (주)한밭 구입"),
        ("韓國學", "韓國學과 大韓民國", "한국학 대한 민국"),
        ("있다.\n다.", "물이 있다. 꽃이 폈다. 끝", "물 있다. 꽃 펴 다. 끝"),
    ],
)
def test_terms_of_a_dictionary_are_words(entries, text, tokens):
    assert " ".join(terms(entries, text)) == tokens
