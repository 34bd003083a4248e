"""Other forms of a question's words: abbreviations, loanwords, other segmentations."""

import pytest

from indexer.analysis import make_analyzer
from indexer.files.schema import StoredPassage
from indexer.forward.lexicon import Lexicon, TokenCounts, lexicon_bytes
from indexer.forward.rows import RowTokens, pack_row
from retriever.question.analysis import AnalysedQuestion
from retriever.question.word_forms import noun_parts, segmentations
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import found, index_of

PAPERS = [
    {
        "id": "EXPLAINED",
        "title": "Smaller models",
        "abstract": "We study knowledge distillation (KD) and a controller area network (CAN). It can fail.",
    },
    {"id": "LONG", "title": "Teachers and students", "abstract": "Knowledge distillation shrinks a network."},
    {"id": "SHORT", "title": "Losses", "abstract": "KD with a soft loss, compared with pruning."},
    {"id": "BUS", "title": "Vehicles", "abstract": "Messages on a controller area network of cars."},
    {"id": "TROPONIN", "title": "Hearts", "abstract": "Troponin rises after surgery on dendrites."},
    {"id": "FERMENT", "title": "발효", "abstract": "김치의 발효를 온도에 따라 관찰하였다."},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with index_of(tmp_path_factory.mktemp("forms"), *PAPERS) as index:
        yield index


def notes(index, question, **settings):
    return list(found(index, question, settings=RetrieverSettings(**settings)).notes)


def test_an_abbreviation_finds_what_writes_its_long_form(index):
    result = found(index, "KD 손실")
    assert "LONG" in [hit.passage_id for hit in result.hits]
    assert "KD is also searched for as knowledge distillation" in result.notes


def test_a_long_form_finds_what_writes_its_abbreviation(index):
    result = found(index, "소형 모형의 knowledge distillation")
    assert "SHORT" in [hit.passage_id for hit in result.hits]
    assert "knowledge distillation is also searched for as KD" in result.notes


def test_an_abbreviation_that_is_a_word_counts_in_capitals_alone(index):
    assert notes(index, "dendrites on CAN") == ["CAN is also searched for as controller area network"]
    assert notes(index, "dendrites can grow") == []
    assert notes(index, "dendrites of a controller area network") == []


def test_an_abbreviation_that_is_no_word_counts_in_small_letters_too(index):
    assert notes(index, "kd loss") == ["kd is also searched for as knowledge distillation"]


def test_a_loanword_finds_the_english_word(index):
    result = found(index, "트로포닌의 기준")
    assert "TROPONIN" in [hit.passage_id for hit in result.hits]
    assert "트로포닌 is also searched for as troponin (by its sound)" in result.notes


def test_a_word_that_is_repeated_is_compared_and_told_once(index):
    heard = "트로포닌 is also searched for as troponin (by its sound)"
    assert notes(index, "트로포닌 " * 3) == [heard]
    assert heard in notes(index, "클로로플라스트 " * 8 + "트로포닌")
    assert notes(index, "KD " * 3) == ["KD is also searched for as knowledge distillation"]


def test_korean_words_are_not_searched_by_their_sound(index):
    assert notes(index, "김치의 발효는 온도에 따라 어떻게 되는가?") == []


@pytest.mark.parametrize("question", ["KD loss", "트로포닌"])
def test_other_forms_can_be_switched_off(index, question):
    assert notes(index, question)
    plain = found(index, question, settings=RetrieverSettings(without=frozenset({"word-forms"})))
    assert not any("also searched" in note for note in plain.notes)
    assert plain.applied.without == ("word-forms",)


@pytest.mark.parametrize("method", ["or", "paper"])
def test_the_other_methods_search_what_is_asked(index, method):
    result = found(index, "KD 트로포닌", method)
    assert not any("also searched" in note for note in result.notes)
    assert result.applied.without is None


def test_a_query_shows_words_not_stems(index):
    [whole, *_] = found(index, "KD 손실").queries
    assert whole.query.startswith('KD OR "knowledge distillation" OR 손실')


BILINGUAL = make_analyzer("bilingual", "discard")


def lexicon_of(*terms):
    counts = TokenCounts()
    passage = StoredPassage("P1", "P1", "", "text", "ko", "text")
    counts.add(pack_row(passage, RowTokens(range(1, len(terms) + 1), (), (), ())))
    return Lexicon(lexicon_bytes(terms, counts))


def segmented(text, *terms):
    question = AnalysedQuestion(text, tuple(BILINGUAL.tagged_tokens(text)))
    return [(each.text, each.others) for each in segmentations(question, lexicon_of(*terms))]


def test_a_word_that_ends_like_a_verb_is_its_two_nouns():
    assert segmented("예비인가 신청", "예비", "인가") == [("예비인가", "예비 인가")]


def test_a_last_syllable_is_left_over():
    assert segmented("분만취약지에서 무엇을", "분만", "취약") == [("분만취약지", "분만 취약")]


def test_a_longer_term_stands_for_a_word_that_no_terms_make_up():
    assert segmented("순다르반의 호랑이", "순다르반스", "호랑이") == [("순다르반", "순다르반스")]


def test_of_two_segmentations_the_one_of_fewer_parts_is_taken():
    assert segmented("예비인가 신청", "예비", "인가", "예비인가") == [("예비인가", "예비인가")]


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
    assert segmented(text, *terms) == []


def parts(noun, token, *terms):
    question = AnalysedQuestion(noun, parts={noun: ((0, token),)})
    return [each.others for each in noun_parts(question, lexicon_of(*terms))]


def test_a_syllable_stands_for_a_noun_only_if_a_passage_holds_the_noun():
    assert parts("비만", "비", "비", "비만") == ["비"]
    assert parts("비만", "비", "비") == []
    assert parts("고혈압", "혈압", "혈압") == ["혈압"]
