"""A passage after its analysis: its tokens, and the names in its beginning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import DECOMPOUND_MODES, make_analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.names import LONGEST_READ, find_names
from indexer.analysis.packing import PassageTokens
from indexer.analysis.tokens import as_indexed

ANALYZER = make_analyzer("bilingual")
FILLING = "some plain words of a text that goes on "


def analysed(text, title="", title2="", analyzer=ANALYZER):
    return AnalysedPassage.of(title, text, title2, analyzer)


def named(passage):
    """Return the tokens of each name."""
    words = passage.tokens.text.words()
    return [" ".join(words[first : first + length]) for first, length in passage.names]


@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
@pytest.mark.parametrize(
    "text", ["In it Marta Quillon met 박지원.", "논의 메탄 배출량은 늘었다.", FILLING * 200, ""]
)
def test_the_tokens_are_those_of_title_and_text_of_the_title_and_of_the_other_title(mode, text):
    analyzer = make_analyzer("bilingual", mode)

    found = analysed(text, "공기업경영평가", "Public enterprises", analyzer)

    assert found.tokens == PassageTokens.of("공기업경영평가", text, "Public enterprises", analyzer.analyze)


def test_a_name_is_known_by_the_place_of_its_first_token():
    passage = analysed("It was the map of Marta Quillon.", "Maps")

    assert passage.tokens.text.words() == ["map", ".", ".", ".", "map", ".", "marta", "quillon"]
    assert passage.names == ((6, 2),)


def test_where_compounds_stand_beside_their_parts_a_place_is_the_tokens_index():
    passage = analysed("그 공기업경영평가는 박지원이 했다.", analyzer=make_analyzer("bilingual", "mixed"))
    tokens = passage.tokens.text.tokens()

    assert [term for term, *_ in tokens[:6]] == ["공기업", "공", "기업", "경영", "평가", "박지원"]
    assert [position for _, position, *_ in tokens[:6]] == [1, 1, 2, 3, 4, 6]
    assert passage.names == ((5, 1),)


@pytest.mark.parametrize(
    "filling", [FILLING, "여러 낱말로 된 글이 이어진다 ", "그 글은 some plain words of it "]
)
def test_of_a_long_text_only_the_beginning_is_searched_for_names(filling):
    long = filling * (2 * LONGEST_READ // len(filling))
    passage = analysed(f"He met Marta Quillon. {long} She met Ada Kim in it.")

    assert named(passage) == ["marta quillon"]
    assert "kim" in passage.tokens.text.words()


ENGLISH = st.lists(
    st.sampled_from(
        "The a of Marta Quillon J. R. St. Louis, GPS mRNA may May Lee. (Basel) what I 1893 - What\n".split(
            " "
        )
    ),
    max_size=25,
).map(" ".join)


@given(ENGLISH, ENGLISH)
def test_english_text_has_the_names_that_tagging_it_finds(title, text):
    whole, title = as_indexed(title, text)
    found = find_names(whole, ANALYZER.tagged_tokens(whole), title_end=len(title))
    tokens = ANALYZER.analyze(whole)

    assert analysed(text, title).names == tuple((tokens[first][1], length) for first, length in found)
