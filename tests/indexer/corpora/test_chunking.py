import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.corpora.chunking import Passage, chunk_spans, chunk_text, cut_text, passages_of, split_sentences
from indexer.corpora.papers import Paper

TEXTS = st.text() | st.text(alphabet='가다요a B1.,?!。…"”()[]-\n\t ', max_size=300).map(lambda text: text * 8)


@given(TEXTS)
def test_sentence_spans_cover_all_that_is_not_blank_in_order(text):
    spans = split_sentences(text)
    covered = "".join(text[start:end] for start, end in spans)

    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join(covered.split()) == "".join(text.split())


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


LONG = " ".join(["a" * 449 + "."] * 9)  # nine chunks
BODY = "Introduction\nSee http://a.b/c now.\nReferences\n[1] Kim."
# A paper, and its passages: (id, text, language, part).
PAPERS = [
    ({"lang": "en"}, [("P1", "", "en", "abstract")]),
    (
        {"title": "제목", "abstract": "초록이다.", "title2": "A title", "abstract2": "An abstract."},
        [("P1", "초록이다.", "ko", "abstract"), ("P1@en", "An abstract.", "en", "abstract2")],
    ),
    ({"abstract": "x" * 4000}, [("P1", "x" * 4000, "en", "abstract")]),
    (
        {"title": "T", "abstract": LONG, "body": BODY},
        [
            ("P1", LONG[:450], "en", "abstract"),
            *((f"P1#{number}", LONG[:450], "en", "abstract") for number in range(1, 9)),
            ("P1#9", "Introduction\n\nSee [URL] now.", "en", "body"),
        ],
    ),
    (
        {"abstract": "초록이다.", "body": "본문이다.", "abstract2": LONG},
        [
            ("P1", "초록이다.", "ko", "abstract"),
            ("P1@en", LONG[:450], "en", "abstract2"),
            ("P1#1", "본문이다.", "ko", "body"),
            *((f"P1#{number}", LONG[:450], "en", "abstract2") for number in range(2, 10)),
        ],
    ),
]


@pytest.mark.parametrize(("record", "passages"), PAPERS)
def test_a_paper_has_a_passage_in_each_language_and_chunks_of_long_texts(record, passages):
    found = passages_of(Paper(id="P1", **record), "paper")

    assert [(each.passage_id, each.text, each.lang, each.part) for each in found] == passages
    assert {each.doc_id for each in found} == {"P1"}
