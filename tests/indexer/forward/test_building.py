"""The forward index of a build: numbered terms and rows in parts, resumed and joined."""

import numpy as np
import pytest

from indexer.analysis import DECOMPOUND_MODES, make_analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.packing import GAP
from indexer.files.schema import StoredPassage
from indexer.forward import building
from indexer.forward.building import RowWriter, TermNumbers, packed_row
from indexer.forward.columns import ForwardColumns
from indexer.forward.lexicon import LexiconBuilder, TokenCounts, lexicon_bytes
from indexer.forward.rows import PassageRows, tokens_of_row

ANALYZER = make_analyzer("bilingual")


def passage(name, text, title="", title2="", analyzer=ANALYZER):
    """Return a passage with its analysis."""
    stored = StoredPassage(name, name, title, text, "en", "abstract", title2=title2)
    return stored, AnalysedPassage.of(title, text, title2, analyzer)


def add(folder, *texts, committed=0):
    """Add a passage for each text, which is its name too, as a build does that committed some before."""
    terms, rows = TermNumbers(folder / "terms"), RowWriter(folder / "forward", committed)
    for text in texts:
        stored, analysed = passage(text, text)
        rows.add(stored, packed_row(stored, analysed, terms))
    terms.flush()
    rows.flush()
    return terms, rows


def names(folder):
    """Return the passage_ids in the order of their numbers."""
    columns = ForwardColumns(folder / "forward")
    return [columns.names(number)[0] for number in range(len(columns))]


def bodies(folder, terms):
    columns = ForwardColumns(folder / "forward")
    rows = columns.rows(np.arange(len(columns)))
    return [
        [terms[number - 1] for number in rows.body_of(row).tolist() if number] for row in range(len(rows))
    ]


def test_passages_and_new_terms_are_numbered_in_the_order_of_the_corpus(tmp_path):
    terms, rows = add(tmp_path, "graph theory", "theory of a walk")
    rows.finish()

    assert terms.terms == ["graph", "theori", "walk"]
    assert names(tmp_path) == ["graph theory", "theory of a walk"]
    assert bodies(tmp_path, terms.terms) == [["graph", "theori"], ["theori", "walk"]]


def test_a_resumed_build_continues_after_the_engines_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "PART_BYTES", 60)  # a part for each two passages
    texts = ["graph", "walk of graphs", "theory", "a walk in theory"]
    add(tmp_path / "whole", *texts)
    add(tmp_path / "resumed", *texts[:2])
    add(tmp_path / "resumed", texts[2], committed=2)  # which the engine did not commit

    terms, rows = add(tmp_path / "resumed", *texts[2:], committed=2)
    rows.finish()

    assert names(tmp_path / "resumed") == texts
    assert bodies(tmp_path / "resumed", terms.terms) == bodies(tmp_path / "whole", terms.terms)


@pytest.mark.parametrize("committed", [1, 3])
def test_other_rows_than_were_committed_are_an_error(tmp_path, committed):
    add(tmp_path, "graph", "walk")

    with pytest.raises(ValueError, match=f"only 2 rows of {committed} passages exist"):
        RowWriter(tmp_path / "forward", committed)


def test_an_update_continues_the_numbers_of_its_base(tmp_path):
    _, rows = add(tmp_path, "graph", "walk", "theory")
    rows.finish()
    base = tmp_path / "lexicon.bin"
    base.write_bytes(lexicon_bytes(["graph", "walk", "theori"], TokenCounts()))
    terms = TermNumbers(tmp_path / "new", base)
    rows = RowWriter(tmp_path / "forward")
    rows.remove([1])
    stored, analysed = passage("walk further", "walk further")

    assert rows.add(stored, packed_row(stored, analysed, terms)) == 3
    rows.finish()
    assert terms.terms == ["graph", "walk", "theori", "further"]
    assert names(tmp_path) == ["graph", "walk", "theory", "walk further"]
    assert RowWriter(tmp_path / "forward").removed.tolist() == [1]


@pytest.mark.parametrize(
    ("title", "tokens"),
    [
        ("Mercury (planet)", 1),
        ("The planet Mercury (element)", 2),
        ("Mercury (planet) today", 3),
        ("Mercury", 1),
        ("(planet)", 1),
        ("", 0),
    ],
)
def test_a_title_names_its_subject_before_a_bracket_that_ends_it(title, tokens):
    stored, analysed = passage("P", "text", title)
    row = packed_row(stored, analysed, LexiconBuilder())

    assert PassageRows.of([row]).title_name.tolist() == [tokens]


TEXTS = {
    "Korean": (
        "공기업경영평가와 비선형 모형",
        "메탄의 배출량은\n늘었다. 논과 밭, km²…",
        "Public enterprises",
    ),
    "English": ("Of naïve scenes", "The emission of methane (CH4) rose by 2.5 in 2017!", "장면의 분할"),
    "mixed": ("지식 그래프(knowledge graph)", "논문 검색에서 환각(hallucination)을 줄인다 the.", ""),
    "empty": ("", "", ""),
    "of signs": ("…", "!?", "—"),
    "long": ("제목", "지식 그래프 검색 the question of answers " * 400, ""),
}


@pytest.mark.parametrize("mode", DECOMPOUND_MODES)
@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS)
def test_tokens_come_back_from_the_row_of_a_passage(mode, texts):
    title, text, title2 = texts
    lexicon = LexiconBuilder()
    stored, analysed = passage("P", text, title, title2, make_analyzer("bilingual", mode))

    row = packed_row(stored, analysed, lexicon)
    terms = [GAP, *lexicon.terms_from(1)]
    found = tokens_of_row(row, analysed.tokens.layout, lambda numbers: [terms[one] for one in numbers])

    assert found == analysed.tokens
