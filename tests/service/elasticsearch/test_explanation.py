"""A cluster's scores are explained as every engine's."""

import math

import pytest

from retriever.queries.boolean import Term
from tests.retriever.made_papers import indexed

pytest.register_assert_rewrite("tests.retriever.explanation_contract")

from tests.retriever.explanation_contract import *  # noqa: E402, F403 - its tests and fixtures


def test_passages_without_a_word_are_left_out_of_the_averages(tmp_path, settings_for):
    """As Lucene counts; tantivy counts them, see tests/retriever/explaining/test_explanation.py."""
    papers = [{"id": "A", "title": "alpha"}, {"id": "B", "title": "beta gamma"}, {"id": "C", "title": "the"}]

    with indexed(settings_for(tmp_path), papers, "averages") as index:
        [term] = index.engine.explain(Term("alpha", ("alpha",)), "A")

    # One of two passages; its one word against 1.5 on average.
    assert term.idf == pytest.approx(math.log(1 + 1.5 / 1.5))
    assert term.score == pytest.approx(
        2.2 * math.log(1 + 1.5 / 1.5) / (1 + 1.2 * (1 - 0.75 + 0.75 * 1 / 1.5)), abs=1e-4
    )
