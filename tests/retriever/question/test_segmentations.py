"""Words that the analysis takes apart wrongly are searched for by the terms of the index, too."""

import pytest

from indexer.analysis import make_analyzer
from indexer.files.schema import StoredPassage
from indexer.forward.lexicon import Lexicon, TokenCounts, lexicon_bytes
from indexer.forward.rows import RowTokens, pack_row
from retriever.question.analysis import AnalysedQuestion
from retriever.question.segmentations import noun_parts, segmentations

BILINGUAL = make_analyzer("bilingual", "discard")


def lexicon_of(*terms):
    counts = TokenCounts()
    passage = StoredPassage("P1", "P1", "", "text", "ko", "text")
    counts.add(pack_row(passage, RowTokens(range(1, len(terms) + 1), (), (), ())))
    return Lexicon(lexicon_bytes(terms, counts))


def found(text, *terms):
    question = AnalysedQuestion(text, tuple(BILINGUAL.tagged_tokens(text)))
    return [(each.text, each.others) for each in segmentations(question, lexicon_of(*terms))]


def test_a_word_that_ends_like_a_verb_is_its_two_nouns():
    assert found("예비인가 신청", "예비", "인가") == [("예비인가", "예비 인가")]


def test_a_last_syllable_is_left_over():
    assert found("분만취약지에서 무엇을", "분만", "취약") == [("분만취약지", "분만 취약")]


def test_a_longer_term_stands_for_a_word_that_no_terms_make_up():
    assert found("순다르반의 호랑이", "순다르반스", "호랑이") == [("순다르반", "순다르반스")]


def test_of_two_segmentations_the_one_of_fewer_parts_is_taken():
    assert found("예비인가 신청", "예비", "인가", "예비인가") == [("예비인가", "예비인가")]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("대통령인가?", ("대통령", "인가")),
        ("초등학교장 연수", ("초등", "학교", "장")),
        ("기후변화 정책", ("기후", "변화", "기후변화")),
        ("예비인가 신청", ("예비",)),
        ("thermal runaway", ("thermal", "runaway")),
        ("", ()),
    ],
    ids=["copula at the end", "as analysed", "nouns", "terms missing", "English", "nothing"],
)
def test_other_words_stay_as_they_are(text, terms):
    assert found(text, *terms) == []


def parts(noun, token, *terms):
    question = AnalysedQuestion(noun, parts={noun: ((0, token),)})
    return [each.others for each in noun_parts(question, lexicon_of(*terms))]


def test_a_syllable_stands_for_a_noun_only_if_a_passage_holds_the_noun():
    assert parts("비만", "비", "비", "비만") == ["비"]
    assert parts("비만", "비", "비") == []
    assert parts("고혈압", "혈압", "혈압") == ["혈압"]
