"""Lines joined to paragraphs: hyphens, Korean words parted without a mark, addresses, ligatures."""

import pytest

from indexer.corpora.full_text.joining import Usage, join_lines, readable, usage_of
from indexer.corpora.full_text.layout import Column, Line
from indexer.corpora.full_text.pages import Fragment

PARTING = Usage(splits_words=True)


def parts(*texts, **how):
    return [line.part for line in lines(*texts, **how)]


def lines(*texts, spaced=False):
    return [Line(Fragment(text, 0, 100, 0, 10, spaced=spaced), text, None, Column(0, 100, 12), 0) for text in texts]


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (("an exam-", "ple of it"), "an example of it"),
        (("state-of-the-", "art systems"), "state-of-the-art systems"),
        (("after COVID-", "19 came"), "after COVID-19 came"),
        (("Retrieval-", "Augmented"), "Retrieval-Augmented"),
        (("a dash -", "like this"), "a dash - like this"),
        (("co\u00ad", "operate"), "cooperate"),
        (("https://doi.org/10.1234/", "abc"), "https://doi.org/10.1234/abc"),
        (("two", "words"), "two words"),
    ],
)
def test_english_words_are_whole_again(texts, joined):
    assert join_lines(lines(*texts), Usage()) == joined


def test_a_hyphen_that_the_document_writes_elsewhere_is_kept():
    usage = usage_of(parts("we use cross-lingual search", "and nothing else here"))

    assert join_lines(lines("a cross-", "lingual index"), usage) == "a cross-lingual index"


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (("정보검색 시스", "템의 성능"), "정보검색 시스템의 성능"),
        (("시스템의 성능", "을 평가하였다"), "시스템의 성능을 평가하였다"),
        (("두 시간을 넘으면", "정확도가 떨어진다"), "두 시간을 넘으면 정확도가 떨어진다"),
        (("참여자 12", "명을 모았다"), "참여자 12명을 모았다"),
        (("순환 신경망", "(recurrent network)"), "순환 신경망(recurrent network)"),
        (("값은", "21%였다"), "값은 21%였다"),
    ],
)
def test_korean_words_are_whole_again_and_others_stay_apart(texts, joined):
    assert join_lines(lines(*texts), PARTING) == joined


def test_where_spaces_are_drawn_at_line_ends_they_alone_part_words():
    usage = usage_of(parts("가나 다라 마바", "사아 자차 카타", "파하 가나 다라", spaced=True))

    assert join_lines([*lines("정보", spaced=True), *lines("검색")], usage) == "정보 검색"
    assert join_lines(lines("정보", "검색"), usage) == "정보검색"


def test_ligatures_are_letters_and_hangul_is_composed():
    assert readable("e\ufb03cient \u1112\u1161\u11ab\u200b") == "efficient 한"
