"""Packed tokens: a line of words where there is one, else terms and positions side by side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import ANALYZERS, DECOMPOUND_MODES, make_analyzer
from indexer.packing import GAP, PackedTokens

TEXTS = [
    "메탄의 배출량은 2024년에 늘었다. The emission of methane (CH4) from 논 rose!",
    "공기업경영평가와 비선형 동적 모형, km²…",
    "웨이 웨이",
    "",
]


def test_terms_stand_in_a_line_with_gaps_where_words_were_dropped():
    packed = PackedTokens.pack([("논", 0, 0, 1), ("메탄", 2, 3, 5), ("배출", 3, 6, 8)])

    assert packed == (f"논 {GAP} 메탄 배출", b"")
    assert list(packed.unpack()) == [("논", 0), ("메탄", 2), ("배출", 3)]


@pytest.mark.parametrize(
    "terms",
    [
        [("공기업", 0), ("공", 0), ("기업", 1)],
        [("공기업", 0), ("공", 0), ("기업", 2)],
        [("웨이 ", 0), ("논", 1)],
        [("", 0), ("a b", 1)],
    ],
)
def test_what_makes_no_line_keeps_its_positions_beside_it(terms):
    packed = PackedTokens.pack([(term, position, 0, 0) for term, position in terms])

    assert packed.positions
    assert list(packed.unpack()) == terms


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
@pytest.mark.parametrize("name", ANALYZERS)
def test_what_was_packed_comes_back(name, mode, text):
    tokens = make_analyzer(name, mode).analyze(text)

    assert list(PackedTokens.pack(tokens).unpack()) == [token[:2] for token in tokens]


ANALYZER_OF = {name: make_analyzer(name) for name in ANALYZERS}


@pytest.mark.parametrize("name", ANALYZERS)
@given(st.text(st.sampled_from(f"가의 aA1.-{GAP}")))
def test_no_analyzer_makes_a_term_of_the_gap(name, text):
    assert GAP not in [token[0] for token in ANALYZER_OF[name].analyze(text)]
