"""Long runs of one sign, and of one word, cost no more than other texts of their length.

The bounds are processor times, a fraction of what each took where every place of a run was compared with all
others.
"""

import time

import pytest

from indexer.analysis import make_analyzer
from indexer.analysis.names import names_in
from indexer.corpora.chunking import chunk_text
from indexer.glossary.abbreviations import Abbreviation
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import Glossary, write_glossary
from retriever.conditions import find_conditions

BILINGUAL = make_analyzer("bilingual")
NAMES = "." * 19_000 + " a Bus, a Car, a Dog, a Elk, a Fox"


@pytest.fixture
def glossary(tmp_path):
    form = Abbreviation("KD", "knowledge distillation", ("kd",), ("knowledg", "distil"), 3)
    pair = Pair("그래프", "graph", ("그래프",), ("graph",), 9, ("bracket",))
    write_glossary(tmp_path / "g", [pair], [form])
    with Glossary(tmp_path / "g") as opened:
        yield opened


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda _: BILINGUAL.analyze("!" * 20_000 + " 그래프")[-1][0], "그래프"),
        (lambda _: BILINGUAL.analyze("(" * 20_000 + " 그래프")[-1][0], "그래프"),
        (lambda _: BILINGUAL.analyze("?!" * 10_000 + " 그래프")[-1][0], "그래프"),
        (lambda _: len(chunk_text("있다." * 40_000)) > 300, True),
        (lambda glossary: len(glossary.translations(["그래프"] * 20_000)), 20_000),
        (lambda glossary: len(glossary.abbreviations(["kd"] * 15_000)), 15_000),
        (lambda _: find_conditions("값 -물 " * 100).exclude, ("물",)),
        (lambda _: len(find_conditions("except " * 140 + "x").exclude), 1),
        (lambda _: len(names_in(NAMES, BILINGUAL.tagged_tokens(NAMES))), 5),
    ],
)
def test_a_long_run_is_read_in_seconds(glossary, call, expected):
    began = time.process_time()
    assert call(glossary) == expected
    assert time.process_time() - began < 8
