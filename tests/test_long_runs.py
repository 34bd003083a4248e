"""Long runs of one sign, and of one word, cost no more than other texts of their length.

The bounds are processor times, a fraction of what each took where every place of a run was compared with all
others.
"""

import time

import pytest

from indexer.analysis import make_analyzer
from indexer.chunking import chunk_text
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import Glossary, write_glossary

BILINGUAL = make_analyzer("bilingual")


@pytest.mark.parametrize("sign", ["!", "(", "?!"])
def test_a_run_of_signs_is_analysed(sign, tried):
    began = time.process_time()

    assert BILINGUAL.analyze(sign * (20_000 // len(sign)) + " 그래프")[-1][0] == "그래프"

    assert time.process_time() - began < 5
    tried("inputs")


def test_sentences_without_a_space_between_are_cut(tried):
    began = time.process_time()

    assert len(chunk_text("있다." * 40_000)) > 300

    assert time.process_time() - began < 8
    tried("inputs")


def test_a_word_of_the_glossary_is_found_wherever_it_stands_again(tmp_path, tried):
    write_glossary(tmp_path / "g", [Pair("그래프", "graph", ("그래프",), ("graph",), 9, ("bracket",))])
    began = time.process_time()

    with Glossary.open(tmp_path / "g") as glossary:
        assert len(glossary.translations(["그래프"] * 20_000)) == 20_000

    assert time.process_time() - began < 8
    tried("inputs")
