"""Pairs that are given: an institution's own file, and the general glossary."""

import os

import pytest

from base.errors import InvalidCall
from indexer.analysis import ANALYZERS, Decompound, make_analyzer
from indexer.glossary.given import GENERAL, Entry, GivenPairs, parse_glossary, read_glossary
from indexer.glossary.pairs import Pair
from indexer.glossary.terms import korean_tokens

BILINGUAL: tuple[str, Decompound, None] = ("bilingual", "discard", None)


def own_pairs(text):
    return GivenPairs(parse_glossary(text.encode(), "own.tsv"), general=False).pairs(*BILINGUAL)[0]


def test_a_file_holds_a_pair_a_line_and_comments():
    text = (
        "# ours\n회복탄력성\tresilience  # psychology\n\n주석\ttin\t<\n납\tlead\t>\n회복탄력성\tresilience\n"
    )

    assert parse_glossary(text.encode(), "own.tsv") == (
        Entry("회복탄력성", "resilience"),
        Entry("주석", "tin", "ko"),
        Entry("납", "lead", "en"),
    )


def test_decomposed_hangul_is_composed():
    text = "\u1112\u1161\u11ab\u1100\u1173\u11af\tHangul\n"

    assert parse_glossary(text.encode(), "own.tsv") == (Entry("한글", "Hangul"),)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (
            b"resilience\t\xed\x9a\x8c\xeb\xb3\xb5",
            "not a pair",
        ),
        ("회복탄력성 resilience".encode(), "not a pair"),
        ("회복탄력성\t".encode(), "not a pair"),
        ("납\tlead\tmetal".encode(), "only > or <"),
        ("납\tlead\t>\tmore".encode(), "only > or <"),
        (b"\xff\xfe", r"not UTF-8 \(byte 1\)"),
        ("납\tle\x1bad".encode(), r".*U\+001B"),
        ("납\tle\u202ead".encode(), r".*U\+202E"),
        ("납\tle\u2028ad".encode(), r".*U\+2028"),
        ("가".encode() * 81 + b"\tlong", ".*81"),
    ],
)
def test_a_line_that_is_no_pair_is_told_with_its_number(line, complaint):
    with pytest.raises(InvalidCall, match=rf"^own\.tsv, line 2: {complaint}"):
        parse_glossary("해안\tcoast\n".encode() + line + b"\n", "own.tsv")


def test_a_file_without_pairs_is_told():
    with pytest.raises(InvalidCall, match=r"^own\.tsv: no pairs"):
        parse_glossary(b"# nothing yet\n", "own.tsv")


def test_only_a_regular_file_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    for name in ("missing", "pipe", ""):
        with pytest.raises(InvalidCall, match="cannot be read"):
            read_glossary(tmp_path / name)


def test_pairs_are_analysed_as_the_index_is():
    assert own_pairs("지식 그래프\tknowledge graphs\n") == [
        Pair("지식 그래프", "knowledge graphs", ("지식", "그래프"), ("knowledg", "graph"), 0, ("user",))
    ]


def test_a_term_that_is_cut_wrongly_alone_is_analysed_as_an_object():
    (pair,) = own_pairs("비만\tobesity\n")

    assert pair.korean_tokens == ("비만",)


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("타당성\tvalidity", None),
        ("돌봄\tcare", None),
        ("고혈압\thypertension", "ko"),  # what is left is 혈압
        ("수익률\trate of return\n수익\trevenue", "ko"),  # what is left is another term
    ],
)
def test_of_a_term_that_the_analysis_takes_apart_only_what_is_sure_is_looked_up(line, target):
    assert own_pairs(line)[0].target == target


def test_a_term_of_which_a_word_is_dropped_is_left_out():
    assert own_pairs("거꾸로 학습\tflipped learning\n") == []


@pytest.mark.parametrize("analyzer", ANALYZERS)
def test_the_general_glossary_serves_every_analyzer(analyzer):
    entries = read_glossary(GENERAL)
    _, pairs = GivenPairs().pairs(analyzer, "discard", None)

    assert len(entries) >= 18_000
    assert len(pairs) > 0.99 * len(entries)
    assert {pair.sources for pair in pairs} == {("general",)}


def test_the_general_glossary_can_be_left_out():
    assert GivenPairs(general=False).pairs(*BILINGUAL) == ([], [])


@pytest.mark.parametrize("term", ["비만", "이주", "설사"])
def test_a_noun_that_is_taken_apart_alone_is_looked_up_whole(term):
    assert [pair.korean_tokens for pair in own_pairs(f"{term}\tnoun")] == [(term,)]


def test_the_words_of_a_term_are_not_taken_apart():
    assert own_pairs("간호사 소진\tnurse burnout")[0].korean_tokens == ("간호", "사", "소진")


def test_a_term_that_is_one_token_is_analysed_once(monkeypatch):
    asked: list[str] = []
    analyzer = make_analyzer("bilingual")
    analyze = analyzer.analyze

    def noting(text):
        asked.append(text)
        return analyze(text)

    monkeypatch.setattr(analyzer, "analyze", noting)

    assert (korean_tokens("학습", analyzer), asked) == (("학습",), ["학습"])


def test_a_term_without_tokens_is_analysed_as_an_object_and_an_empty_one_has_none():
    analyzer = make_analyzer("bilingual")

    assert (korean_tokens("설사", analyzer), korean_tokens("", analyzer)) == (("설사",), ())
