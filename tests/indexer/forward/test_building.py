"""The forward index of a build: numbered terms and rows in parts, resumed and joined."""

import numpy as np
import pytest

from indexer.analysis import DECOMPOUND_MODES, make_analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.packing import GAP
from indexer.files.schema import StoredPassage
from indexer.forward import building
from indexer.forward.building import BaseForward, ForwardWriter
from indexer.forward.columns import ForwardColumns
from indexer.forward.lexicon import TokenCounts, write_lexicon
from indexer.forward.rows import PassageRows, tokens_of_row

ANALYZER = make_analyzer("bilingual")


def passage(name, text, title="", title2="", analyzer=ANALYZER):
    """Return a passage with its analysis."""
    stored = StoredPassage(name, name, title, text, "en", "abstract", title2=title2)
    return stored, AnalysedPassage.of(title, text, title2, analyzer)


def add(writer, *texts):
    """Add a passage for each text, which is its name too."""
    for text in texts:
        stored, analysed = passage(text, text)
        writer.add(stored, writer.row(stored, analysed))


def held(folder):
    """Return (number, passage_id) of the passages in a folder."""
    columns = ForwardColumns(folder)
    return [(number, columns.names(place)[0]) for place, number in enumerate(columns.numbers.tolist())]


def bodies(folder, terms):
    columns = ForwardColumns(folder)
    rows = columns.rows(np.arange(len(columns)))
    return [
        [terms[number - 1] for number in rows.body_of(row).tolist() if number] for row in range(len(rows))
    ]


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_passages_and_new_terms_are_numbered_in_the_order_of_the_corpus(tmp_path):
    writer = ForwardWriter(tmp_path / "parts", committed=0)
    add(writer, "graph theory", "theory of a walk")
    writer.finish(tmp_path / "forward")

    assert writer.terms == ["graph", "theori", "walk"]
    assert held(tmp_path / "forward") == [(0, "graph theory"), (1, "theory of a walk")]
    assert bodies(tmp_path / "forward", writer.terms) == [["graph", "theori"], ["theori", "walk"]]


def test_each_flush_makes_a_part_of_what_is_new(tmp_path):
    writer = ForwardWriter(tmp_path / "parts", committed=0)
    add(writer, "graph")
    writer.flush()
    writer.flush()
    add(writer, "graph walk")
    writer.flush()

    parts = sorted((tmp_path / "parts").iterdir())
    assert [held(part) for part in parts] == [[(0, "graph")], [(1, "graph walk")]]
    assert [(part / building.TERMS).read_text() for part in parts] == ["\x1fgraph", "\x1fwalk"]


def test_a_part_is_written_once_its_rows_are_large(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "PART_BYTES", 100)
    writer = ForwardWriter(tmp_path / "parts", committed=0)

    add(writer, *(f"word{number}" for number in range(10)))

    assert len(list((tmp_path / "parts").iterdir())) > 1


def test_a_resumed_build_goes_on_behind_what_was_committed(tmp_path):
    texts = ["graph", "walk of graphs", "theory", "a walk in theory"]
    writer = ForwardWriter(tmp_path / "parts", committed=0)
    add(writer, *texts[:2])
    writer.flush()

    resumed = ForwardWriter(tmp_path / "parts", committed=2)
    add(resumed, *texts[2:])
    resumed.finish(tmp_path / "forward")
    whole = ForwardWriter(tmp_path / "others", committed=0)
    add(whole, *texts)
    whole.finish(tmp_path / "whole")

    assert resumed.terms == whole.terms
    assert files(tmp_path / "forward") == files(tmp_path / "whole")


def test_parts_behind_the_engines_commit_are_dropped_with_their_terms(tmp_path):
    writer = ForwardWriter(tmp_path / "parts", committed=0)
    for text in ("graph", "walk", "theory"):
        add(writer, text)
        writer.flush()

    resumed = ForwardWriter(tmp_path / "parts", committed=1)

    assert resumed.terms == ["graph"]
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["000000"]
    add(resumed, "other")
    assert resumed.terms == ["graph", "other"]


@pytest.mark.parametrize("committed", [1, 3])
def test_other_rows_than_were_committed_are_an_error(tmp_path, committed):
    writer = ForwardWriter(tmp_path / "parts", committed=0)
    add(writer, "graph", "walk")
    writer.flush()

    with pytest.raises(ValueError, match=f"only 2 rows of {committed} passages exist"):
        ForwardWriter(tmp_path / "parts", committed=committed)


@pytest.mark.parametrize("name", ["terms", "rows", "runs"])
def test_a_part_without_one_of_its_files_is_an_error(tmp_path, name):
    writer = ForwardWriter(tmp_path / "parts", committed=0)
    add(writer, "graph")
    writer.flush()
    (tmp_path / "parts" / "000000" / name).unlink()

    with pytest.raises(ValueError, match=f"{name} is missing"):
        ForwardWriter(tmp_path / "parts", committed=1)


def base_of(folder, *texts):
    """Write a version of some passages."""
    writer, counts = ForwardWriter(folder / "parts", committed=0), TokenCounts()
    add(writer, *texts)
    writer.finish(folder / "forward")
    write_lexicon(folder / "lexicon.bin", writer.terms, counts)
    return BaseForward(folder / "lexicon.bin", folder / "forward")


def test_an_update_keeps_the_numbers_of_its_base(tmp_path):
    base = base_of(tmp_path / "base", "graph", "walk", "theory")
    writer = ForwardWriter(tmp_path / "parts", base, committed=0)
    writer.remove([1])
    add(writer, "walk further")
    writer.finish(tmp_path / "forward")

    assert writer.terms == ["graph", "walk", "theori", "further"]
    assert held(tmp_path / "forward") == [(0, "graph"), (2, "theory"), (3, "walk further")]


def test_an_update_of_an_update_numbers_on_behind_the_highest(tmp_path):
    first = base_of(tmp_path / "base", "graph", "walk")
    second = ForwardWriter(tmp_path / "second", first, committed=0)
    second.remove([1])
    second.finish(tmp_path / "forward")
    write_lexicon(tmp_path / "lexicon.bin", second.terms, TokenCounts())

    third = ForwardWriter(tmp_path / "third", BaseForward(tmp_path / "lexicon.bin", tmp_path / "forward"), 0)
    add(third, "theory")
    third.finish(tmp_path / "last")

    assert held(tmp_path / "last") == [(0, "graph"), (1, "theory")]


def test_where_the_engine_keeps_the_rows_all_terms_are_resumed(tmp_path):
    base = base_of(tmp_path / "base", "graph")
    lexicon = BaseForward(base.lexicon)
    writer = ForwardWriter(tmp_path / "parts", lexicon)
    stored, analysed = passage("P", "walk of a graph")
    row = writer.row(stored, analysed)
    writer.flush()

    resumed = ForwardWriter(tmp_path / "parts", lexicon)

    assert resumed.terms == ["graph", "walk"]
    assert resumed.row(stored, analysed) == row


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
def test_a_title_names_its_subject_before_a_bracket_that_ends_it(tmp_path, title, tokens):
    writer = ForwardWriter(tmp_path)

    row = writer.row(*passage("P", "text", title))

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
def test_tokens_come_back_from_the_row_of_a_passage(tmp_path, mode, texts):
    title, text, title2 = texts
    analyzer, writer = make_analyzer("bilingual", mode), ForwardWriter(tmp_path)
    stored, analysed = passage("P", text, title, title2, analyzer)

    row = writer.row(stored, analysed)
    terms = [GAP, *writer.terms]
    found = tokens_of_row(row, analysed.tokens.layout, lambda numbers: [terms[one] for one in numbers])

    assert found == analysed.tokens
