"""The embedded engine explains its scores as every engine does."""

import math

import pytest

from retriever.queries.boolean import Term
from tests.retriever.made_papers import indexed

pytest.register_assert_rewrite("tests.retriever.explanation_contract")

from tests.retriever.explanation_contract import *  # noqa: E402, F403 - its tests and fixtures


def test_passages_without_a_word_count_in_the_averages(tmp_path, settings_for):
    """As tantivy counts; Lucene leaves them out, see tests/service/elasticsearch/test_explanation.py."""
    papers = [{"id": "A", "title": "alpha"}, {"id": "B", "title": "beta gamma"}, {"id": "C", "title": "the"}]

    with indexed(settings_for(tmp_path), papers) as index:
        [term] = index.engine.explain(Term("alpha", ("alpha",)), "A")

    # One of three passages; its one word against 1 on average.
    assert term.idf == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert term.score == pytest.approx(2.2 * math.log(1 + 2.5 / 1.5) / (1 + 1.2), abs=1e-4)
