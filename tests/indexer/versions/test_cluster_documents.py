"""Passages as documents of a cluster: what was written comes back from lines of terms."""

import pytest

from indexer.analysis import DECOMPOUND_MODES, make_analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.packing import GAP, PackedTokens, PassageTokens
from indexer.files.schema import StoredPassage
from indexer.forward.building import packed_row
from indexer.forward.lexicon import LexiconBuilder
from indexer.versions.cluster.documents import from_document, line_of, to_document

PASSAGE = StoredPassage(
    passage_id="P1",
    doc_id="P1",
    title="공기업경영평가와 비선형 모형",
    text="메탄의 배출량은\n늘었다. The emission of methane (CH4) from 논 rose!",
    lang="ko",
    part="abstract",
    year=2024,
    title2="Evaluating public enterprises",
    record="{}",
)


def packed(*tokens):
    return PackedTokens.pack([(term, position, 0, 0) for term, position in tokens])


@pytest.mark.parametrize(
    ("tokens", "line"),
    [
        ([("논", 0), ("물", 2)], "논 . 물"),
        ([("공기업", 0), ("공", 0), ("기업", 2)], "\x1f공기업\x1f공 . \x1f기업"),
        ([("웨이 ", 0), ("논", 1)], "\x1f웨이\x1e \x1f논"),
        ([(GAP, 0), ("a", 1)], "\x1f. \x1fa"),
        ([], ""),
    ],
)
def test_terms_are_words_of_a_line_one_a_position(tokens, line):
    assert line_of(packed(*tokens)) == line


@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
def test_a_passage_comes_back_with_its_tokens(mode):
    analyze = make_analyzer("bilingual", mode).analyze
    tokens = PassageTokens.of(PASSAGE.title, PASSAGE.text, PASSAGE.title2, analyze)

    lexicon = LexiconBuilder()
    row = packed_row(PASSAGE, AnalysedPassage(tokens, ()), lexicon)

    read = from_document(
        to_document(PASSAGE, tokens, row, 7),
        lambda numbers: [[GAP, *lexicon.terms][number] for number in numbers],
    )

    assert (read, read.tokens, read.row) == (PASSAGE, tokens, row)
