import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.chunking import Passage, chunk_spans, chunk_text, cut_text, passages_of, split_sentences
from indexer.corpora.papers import Paper

TEXTS = st.text() | st.text(alphabet='가다요a B1.,?!。…"”()[]-\n\t ', max_size=300).map(lambda text: text * 8)


def sentences(text):
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works. Does it? Yes!", ["It works.", "Does it?", "Yes!"]),
        ("비교하였다. 차이가 있었다. 왜일까?", ["비교하였다.", "차이가 있었다.", "왜일까?"]),
        ("Kim et al. saw it in Fig. 3, Eq. (2). Next.", ["Kim et al. saw it in Fig. 3, Eq. (2).", "Next."]),
        ("Some, e.g. Kim, agree. Others don't.", ["Some, e.g. Kim, agree.", "Others don't."]),
        ("It rose by 3.14 points. Good.", ["It rose by 3.14 points.", "Good."]),
        ("J. Kim and J.-P. Lee of the U.S. Army. Done.", ["J. Kim and J.-P. Lee of the U.S. Army.", "Done."]),
        ("그는 왔다.[1] 그리고 갔다.[2][3]", ["그는 왔다.[1]", "그리고 갔다.[2][3]"]),
        ("차이가 있었다.또한 늘었다.", ["차이가 있었다.", "또한 늘었다."]),
        ("차이가 있었다.[4]또한 늘었다.", ["차이가 있었다.[4]", "또한 늘었다."]),
        ('"갔다."라고 말했다. 끝.', ['"갔다."라고 말했다.', "끝."]),
        ("“갔다.” 라고 말했다. 끝.", ["“갔다.” 라고 말했다.", "끝."]),
        ('He said "go." Then he went (p. 3). End.', ['He said "go."', "Then he went (p. 3).", "End."]),
        ("The answer is no. We agree with No. 5 here.", ["The answer is no.", "We agree with No. 5 here."]),
        ("2019. 3. 15. 발표되었다. 끝.", ["2019. 3. 15. 발표되었다.", "끝."]),
        ("1. 서론 이다. 2. 본론 이다.", ["1. 서론 이다.", "2. 본론 이다."]),
        ("Cells grew. mRNA rose vs. controls.", ["Cells grew.", "mRNA rose vs. controls."]),
        ("これは文。次の文。", ["これは文。", "次の文。"]),
        ("A title\n\nA text over\ntwo lines.", ["A title", "A text over\ntwo lines."]),
        ("  Blank around.  ", ["Blank around."]),
        ("Done. ***", ["Done. ***"]),
        ("... and so on.", ["... and so on."]),
        ("😀 😀", ["😀 😀"]),
        ("", []),
        (" \n ", []),
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_ends_them(text, expected):
    assert sentences(text) == expected


@given(TEXTS)
def test_sentence_spans_cover_all_that_is_not_blank_in_order(text):
    spans = split_sentences(text)
    covered = "".join(text[start:end] for start, end in spans)

    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join(covered.split()) == "".join(text.split())


A, B, C = "A" * 299 + ".", "B" * 99 + ".", "C" * 199 + "."
LONG_A, LONG_B, LONG_C = "A" * 399 + ".", "B" * 399 + ".", "C" * 449 + "."
# 125 words of 8 characters and a space; 52 of them make 467 characters, 13 make 116.
WORDS = [f"word{number:04}" for number in range(125)]
CHUNKS = {
    "the last whole sentence is repeated": (f"{A} {B} {C}", [f"{A} {B}", f"{B} {C}"]),
    "a sentence of more than 120 characters is not": (f"{LONG_A} {LONG_B}", [LONG_A, LONG_B]),
    "nor one without which the next fits": (f"{B} {B} {LONG_C}", [f"{B} {B}", LONG_C]),
    "a long sentence is cut at a space": (
        " ".join(WORDS),
        [" ".join(WORDS[:52]), " ".join(WORDS[39:91]), " ".join(WORDS[78:])],
    ),
    "a long word is cut hard": ("x" * 1200, ["x" * 500, "x" * 500, "x" * 200]),
    "and so a very long one": ("x" * 2_000_000, ["x" * 500] * 4000),
    "an accent stays with its letter": ("x" * 499 + "e\u0301" + "x" * 10, ["x" * 499, "e\u0301" + "x" * 10]),
    "no punctuation begins a chunk": (" ... , (and so on).", ["and so on)."]),
    "but the sign of a number": ("-5 °C was measured.", ["-5 °C was measured."]),
    "punctuation alone is no chunk": ("... !!", []),
}


@pytest.mark.parametrize(("text", "chunks"), CHUNKS.values(), ids=CHUNKS)
def test_a_text_is_split_into_chunks(text, chunks):
    assert chunk_text(text) == chunks


@given(TEXTS | st.text(alphabet="ab .", min_size=600, max_size=1500))
def test_chunks_are_short_and_begin_with_a_word(text):
    for chunk in chunk_text(text):
        assert 0 < len(chunk) <= 500
        assert not chunk[0].isspace()
        assert not unicodedata.category(chunk[0]).startswith("P") or (len(chunk) > 1 and chunk[1].isdecimal())


@given(TEXTS | st.text(alphabet="ab .", min_size=600, max_size=1500))
def test_only_space_and_punctuation_lie_between_chunks_and_overlaps_stay_in_bounds(text):
    spans = chunk_spans(text)
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]

    for end, start in zip(ends, starts, strict=True):
        assert all(letter.isspace() or unicodedata.category(letter)[0] == "P" for letter in text[end:start])
        assert end - start <= 120
    assert ends == sorted(set(ends) | {0})


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("가" * 1_000_000, 1_000_000),
        ("a" * 999_999 + "e\u0301" + "b", 999_999),
        ("a" * 999_998 + unicodedata.normalize("NFD", "한"), 999_998),
    ],
)
def test_a_text_is_cut_at_a_million_characters_and_never_within_one(text, kept):
    assert cut_text(text) == (text[:kept], len(text) > kept)


def test_a_passage_of_an_article_stays_whole_whatever_its_length():
    text = "가" * 6000

    assert passages_of(Paper(id="317339#6", title="제목", abstract=text), "passage") == [
        Passage("317339#6", "317339", "제목", text, "ko", "passage")
    ]
    assert passages_of(Paper(id="4983", abstract="Text."), "passage")[0].doc_id == "4983"


def test_the_other_language_is_a_second_passage():
    paper = Paper(id="P1", title="제목", abstract="초록이다.", title2="A title", abstract2="An abstract.")

    assert passages_of(paper, "paper") == [
        Passage("P1", "P1", "제목", "초록이다.", "ko", "abstract"),
        Passage("P1@en", "P1", "A title", "An abstract.", "en", "abstract2"),
    ]


@pytest.mark.parametrize(
    ("lang", "title2", "passage_id"),
    [
        ("ko", "x", "P@en"),
        ("en", "제목", "P@ko"),
        ("other", "제목", "P@ko"),
        ("other", "title", "P@en"),
        ("other", "1", "P@en"),
    ],
)
def test_the_second_passage_is_named_by_the_other_language(lang, title2, passage_id):
    assert passages_of(Paper(id="P", lang=lang, title2=title2), "paper")[1].passage_id == passage_id


def test_a_paper_without_any_text_still_has_its_passage():
    assert passages_of(Paper(id="P1", lang="en"), "paper") == [Passage("P1", "P1", "", "", "en", "abstract")]


def test_an_abstract_of_4000_characters_is_whole():
    assert len(passages_of(Paper(id="P1", abstract="x" * 4000), "paper")) == 1


def test_chunks_of_a_long_abstract_and_of_the_body_are_numbered_on():
    long_abstract = " ".join(["a" * 449 + "."] * 9)
    paper = Paper(
        id="P1",
        title="T",
        abstract=long_abstract,
        body="Introduction\nSee http://a.b/c now.\nReferences\n[1] Kim.",
    )

    passages = passages_of(paper, "paper")

    assert [passage.passage_id for passage in passages] == [
        "P1",
        *(f"P1#{number}" for number in range(1, 10)),
    ]
    assert [passage.part for passage in passages] == ["abstract"] * 9 + ["body"]
    assert passages[0].text == "a" * 449 + "."
    assert passages[9] == Passage("P1#9", "P1", "T", "Introduction\n\nSee [URL] now.", "en", "body")


def test_what_is_left_of_a_long_other_abstract_comes_after_the_body():
    paper = Paper(id="P1", abstract="초록이다.", body="본문이다.", abstract2=" ".join(["a" * 449 + "."] * 9))

    assert [(passage.passage_id, passage.part) for passage in passages_of(paper, "paper")] == [
        ("P1", "abstract"),
        ("P1@en", "abstract2"),
        ("P1#1", "body"),
        *((f"P1#{number}", "abstract2") for number in range(2, 10)),
    ]


def test_a_chunk_repeats_the_beginning_of_a_long_title_and_the_first_passage_has_all_of_it():
    first, *chunks = passages_of(Paper(id="P1", title="Rice " * 20_000, body="A sentence. " * 200), "paper")
    assert len(first.title) == 100_000
    assert {chunk.title for chunk in chunks} == {"Rice " * 200}
