"""Analysis in several processes gives what analysis in one gives, in the same order."""

import unicodedata
from typing import NamedTuple

import pytest

from indexer.analysis.pool import BATCH, analyse_in_order


class Texts(NamedTuple):
    title: str
    text: str
    title2: str = ""


def characters(texts, analyzer):
    return len(texts.text)


def analysed(items, workers):
    return [
        (item, list(tokens.text.unpack()), list(tokens.title.unpack()), beside)
        for item, tokens, beside in analyse_in_order(
            items,
            lambda item: Texts(*item),
            characters,
            analyzer="bilingual",
            decompound="discard",
            workers=workers,
        )
    ]


def test_the_text_field_holds_the_title_before_the_text():
    (result,) = analysed([("Rice paddies", "methane")], workers=1)

    assert result[1:3] == ([("rice", 0), ("paddi", 1), ("methan", 2)], [("rice", 0), ("paddi", 1)])


def test_what_runs_beside_the_analysis_comes_with_each_text():
    assert [result[3] for result in analysed([("", "methane"), ("", "")], workers=1)] == [7, 0]


def test_decomposed_hangul_is_analysed_as_composed():
    (result,) = analysed([("", unicodedata.normalize("NFD", "메탄"))], workers=1)

    assert result[1] == [("메탄", 0)]


@pytest.mark.parametrize("count", [0, 1, BATCH, BATCH + 1, 5 * BATCH + 3])
def test_two_processes_give_the_same_in_the_same_order(count):
    items = [(f"제목 {number}", f"methane {number} 배출량") for number in range(count)]

    assert analysed(items, workers=2) == analysed(items, workers=1)


def test_long_texts_are_handed_out_in_smaller_batches():
    read = []

    def items():
        for number in range(12):
            read.append(number)
            yield ("", "word " * 100_001)

    results = analyse_in_order(
        items(), lambda item: Texts(*item), characters, analyzer="english", decompound="discard", workers=1
    )
    next(results)

    assert read == [0, 1]
    results.close()


def test_what_the_source_raises_comes_through():
    def items():
        yield from [("", "word")] * (3 * BATCH)
        raise LookupError("the end of the world")

    with pytest.raises(LookupError, match="the end of the world"):
        analysed(items(), workers=2)
