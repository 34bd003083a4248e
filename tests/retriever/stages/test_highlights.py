import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.analysis.packing import PassageTokens
from indexer.files.schema import StoredPassage
from retriever.stages.highlights import found_in, snippet, title_spans

BILINGUAL = make_analyzer("bilingual")
MIXED = make_analyzer("bilingual", "mixed")

SENTENCES = "Cats sleep. Graphs hold knowledge. Knowledge graphs help retrieval. Dogs bark."


def indexed(text, analyzer=BILINGUAL, title=""):
    tokens = PassageTokens.of(title, text, "", analyzer.analyze)
    return StoredPassage("P", "P", title, text, "en", "abstract", tokens=tokens)


def bracketed(marked):
    """Return a text with brackets around its spans."""
    text = marked.text
    for start, end in reversed(marked.spans):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


def snippet_of(passage, tokens, **options):
    """Return the snippet of a passage for tokens, with their weights or of equal ones."""
    weights = tokens if isinstance(tokens, dict) else dict.fromkeys(tokens, 1.0)
    return snippet(passage, weights, found_in(passage, weights), **options)


def marked(text, tokens, **options):
    return bracketed(snippet_of(indexed(text), tokens, **options))


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("A graph of graphs", {"graph"}, "A [graph] of [graphs]"),
        ("지식 그래프를 검색", {"그래프", "검색"}, "지식 [그래프]를 [검색]"),
        ("검색하는 시스템", {"검색"}, "[검색]하는 시스템"),
        ("the graph", {"the"}, "the graph"),
        ("graph", set(), "graph"),
        ("Cafe\u0301 Café 검색", {"cafe"}, "[Cafe\u0301] [Café] 검색"),
    ],
)
def test_what_was_searched_for_is_marked(text, tokens, expected):
    assert marked(text, tokens) == expected


def test_tokens_that_overlap_are_marked_as_one():
    assert bracketed(snippet_of(indexed("자연어처리", MIXED), {"자연어", "자연", "처리"})) == "[자연어처리]"


def test_decomposed_hangul_is_marked_in_whole_syllables():
    text = unicodedata.normalize("NFD", "지식 검색")

    assert marked(text, {"검색"}) == text[:6] + "[" + text[6:] + "]"
    assert marked(text, {"지식"}) == "[" + text[:5] + "]" + text[5:]


@pytest.mark.parametrize(
    ("tokens", "length", "expected"),
    [
        ({"bark"}, 30, "Dogs [bark]."),
        ({"knowledg"}, 30, "Graphs hold [knowledge]."),
        ({"graph", "retriev"}, 40, "Knowledge [graphs] help [retrieval]."),
        ({"cat", "bark"}, 99, SENTENCES.replace("Cats", "[Cats]").replace("bark", "[bark]")),
        ({"missing"}, 30, "Cats sleep."),
        ({"cat": 1.0, "bark": 5.0}, 30, "Dogs [bark]."),
        ({"cat": 5.0, "bark": 1.0}, 30, "[Cats] sleep."),
        (["cat", "bark"], 30, "[Cats] sleep."),
    ],
)  # fmt: skip
def test_the_snippet_holds_the_sentences_with_the_most_tokens(tokens, length, expected):
    assert marked(SENTENCES, tokens, length=length) == expected


def test_a_long_sentence_is_cut_between_words():
    text = "one two three four five six seven eight graph nine ten eleven twelve"

    assert marked(text, {"graph"}, length=30) == "…eight [graph] nine ten eleven…"
    assert marked(text, {"two"}, length=30) == "one [two] three four five six…"
    assert marked(text, {"twelv"}, length=30) == "…graph nine ten eleven [twelve]"
    assert marked(text, {"missing"}, length=30) == "one two three four five six…"


TEXTS = st.text(st.characters(codec="utf-8"), max_size=80) | st.lists(
    st.sampled_from(
        [
            *("지식그래프", "검색", "graph", "studies", ". ", " ", "\n\n", "Kim et al.", "국립중앙도서관"),
            *("\u1100\u1161\u11a8", "\u1100\u1161", "e\u0301", "\u0f75", "\u0301", "\u212b", "\ufb01"),
            *("긴단어" * 20, "😀"),
        ]
    )
).map("".join)
TOKENS = st.sets(st.sampled_from(["지식", "그래프", "검색", "graph", "studi", "국립", "각", "é", "😀", ""]))


@given(TEXTS, TOKENS, st.integers(20, 60))
def test_a_snippet_is_a_piece_of_the_text_no_longer_than_asked(text, tokens, length):
    shown = snippet_of(indexed(text, MIXED), tokens, length=length)
    ends = [place for span in shown.spans for place in span]

    assert len(shown.text) <= length
    assert bool(shown.text) == bool(text.strip())
    assert shown.text.strip("…").strip() in " ".join(text.split())
    assert ends == sorted(ends)
    assert all(0 <= place <= len(shown.text) for place in ends)


def test_the_words_found_are_marked_in_a_title_as_it_is_given():
    decomposed = unicodedata.normalize("NFD", "지식 그래프")
    passage = indexed("graph", title=f"{decomposed} graphs")

    spans = title_spans(passage, found_in(passage, {"그래프", "graph"}))

    assert [unicodedata.normalize("NFC", passage.title[start:end]) for start, end in spans] == [
        "그래프",
        "graphs",
    ]


@given(st.integers(0, 40), st.sampled_from(["각", "검색 ", "긴 문장 속의 word "]))
def test_what_stands_far_behind_the_beginning_is_marked(extra, filler):
    text = (filler * 8_000)[: 7_980 + extra] + unicodedata.normalize("NFD", "검색") + " needle"

    assert "[needle]" in marked(text, {"needl"})
