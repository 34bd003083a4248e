import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from indexer.analysis.packing import PassageTokens
from indexer.files.schema import StoredPassage
from retriever.stages.highlights import found_in, snippet, title_spans

MIXED = make_analyzer("bilingual", "mixed")


def passage_of(text, title=""):
    tokens = PassageTokens.of(title, text, "", MIXED.analyze)
    return StoredPassage("P", "P", title, text, "en", "abstract", tokens=tokens)


def snippet_of(text, tokens, **options):
    passage, weights = passage_of(text), dict.fromkeys(tokens, 1.0)
    return snippet(passage, weights, found_in(passage, weights), **options)


def test_tokens_that_overlap_are_marked_as_one():
    assert snippet_of("자연어처리", ("자연어", "자연", "처리")).spans == ((0, 5),)


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
    shown = snippet_of(text, tokens, length=length)
    ends = [place for span in shown.spans for place in span]

    assert len(shown.text) <= length
    assert bool(shown.text) == bool(text.strip())
    assert shown.text.strip("…").strip() in " ".join(text.split())
    assert ends == sorted(ends)
    assert all(0 <= place <= len(shown.text) for place in ends)


def test_the_words_found_are_marked_in_a_title_as_it_is_given():
    decomposed = unicodedata.normalize("NFD", "지식 그래프")
    passage = passage_of("graph", title=f"{decomposed} graphs")

    spans = title_spans(passage, found_in(passage, {"그래프", "graph"}))

    assert [unicodedata.normalize("NFC", passage.title[start:end]) for start, end in spans] == [
        "그래프",
        "graphs",
    ]
