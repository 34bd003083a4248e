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


@pytest.mark.parametrize("sign", ["!", "(", "?!"])
def test_a_run_of_signs_is_analysed(sign):
    began = time.process_time()

    assert BILINGUAL.analyze(sign * (20_000 // len(sign)) + " 그래프")[-1][0] == "그래프"

    assert time.process_time() - began < 5


def test_sentences_without_a_space_between_are_cut():
    began = time.process_time()

    assert len(chunk_text("있다." * 40_000)) > 300

    assert time.process_time() - began < 8


def test_a_word_of_the_glossary_is_found_wherever_it_stands_again(tmp_path):
    write_glossary(tmp_path / "g", [Pair("그래프", "graph", ("그래프",), ("graph",), 9, ("bracket",))])
    began = time.process_time()

    with Glossary.open(tmp_path / "g") as glossary:
        assert len(glossary.translations(["그래프"] * 20_000)) == 20_000

    assert time.process_time() - began < 8


def test_an_abbreviation_is_found_wherever_it_stands_again(tmp_path):
    form = Abbreviation("KD", "knowledge distillation", ("kd",), ("knowledg", "distil"), 3)
    write_glossary(tmp_path / "g", [], [form])
    began = time.process_time()

    with Glossary.open(tmp_path / "g") as glossary:
        assert len(glossary.abbreviations(["kd"] * 15_000)) == 15_000

    assert time.process_time() - began < 8


def test_the_conditions_of_many_signs_are_found():
    began = time.process_time()

    assert find_conditions("값 -물 " * 100).exclude == ("물",)
    find_conditions("except " * 140 + "x")

    assert time.process_time() - began < 4


def test_names_behind_a_run_of_dots_are_found():
    text = "." * 19_000 + " a Bus, a Car, a Dog, a Elk, a Fox"
    tagged = BILINGUAL.tagged_tokens(text)
    began = time.process_time()

    assert len(names_in(text, tagged)) == 5

    assert time.process_time() - began < 5
