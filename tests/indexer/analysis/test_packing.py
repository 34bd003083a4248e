"""Packed tokens: a line of words where there is one, else terms and positions side by side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import ANALYZERS, DECOMPOUND_MODES, make_analyzer
from indexer.analysis.packing import GAP, TERM_SEPARATOR, PackedTokens, PassageTokens


@pytest.mark.parametrize(
    "terms",
    [
        [("공기업", 0), ("공", 0), ("기업", 1)],
        [("공기업", 0), ("공", 0), ("기업", 2)],
        [("웨이 ", 0), ("논", 1)],
        [("", 0), ("a b", 1)],
        [(GAP, 0), ("a", 1)],
    ],
)
def test_what_makes_no_line_keeps_its_positions_beside_it(terms):
    packed = PackedTokens.pack([(term, position, 0, 0) for term, position in terms])

    assert packed.words() == [term for term, _ in terms]
    assert list(packed.unpack()) == terms


SPANS = st.tuples(st.integers(0, 300), st.integers(0, 40), st.integers(1, 200))


@given(st.lists(SPANS, max_size=20))
def test_offsets_come_back_however_far_apart_and_long(spans):
    tokens, position, end = [], 0, 0
    for apart, letters, length in spans:
        tokens.append(("x" * letters or "y", position, end + apart, end + apart + length))
        position, end = position + 1 + apart % 3, end + apart + length

    assert PackedTokens.pack(tokens).tokens() == tokens


@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
def test_terms_that_do_not_fit_their_layout_are_an_error(mode):
    tokens = PassageTokens.pack(make_analyzer("bilingual", mode).analyze("공기업 경영의 평가 of firms"))
    words, separator = tokens.text.words(), TERM_SEPARATOR if tokens.text.positions else " "

    assert PassageTokens.of_layout([separator.join(words)], tokens.layout) == tokens
    for other in ([*words, "more"], words[:-1], []):
        with pytest.raises(ValueError, match="damaged"):
            PassageTokens.of_layout([separator.join(other)], tokens.layout)


ANALYZER_OF = {name: make_analyzer(name) for name in ANALYZERS}


@pytest.mark.parametrize("name", ANALYZERS)
@given(st.text(st.sampled_from(f"가의 aA1.-{GAP}\x1e\x1f\n")))
def test_no_analyzer_makes_a_term_of_the_gap_or_a_separator(name, text):
    terms = [token[0] for token in ANALYZER_OF[name].analyze(text)]

    assert GAP not in terms
    assert not any(letter in term for term in terms for letter in "\x1e\x1f\n")
