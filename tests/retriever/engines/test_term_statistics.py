"""Document frequencies, and the idf that follows from them."""

import math

import numpy as np
import pytest

from retriever.engines.term_statistics import (
    TermStatistics,
    inverse_document_frequencies,
    inverse_document_frequency,
)

STATISTICS = TermStatistics(100, {"rare": 2, "common": 90, "unseen": 0})
RARE, UNSEEN = math.log(1 + 98.5 / 2.5), math.log(1 + 100.5 / 0.5)


def test_a_token_that_no_passage_holds_is_the_rarest():
    assert STATISTICS.idf("rare") == pytest.approx(RARE)
    assert STATISTICS.idf("unseen") == STATISTICS.idf("unheard") == pytest.approx(UNSEEN)
    assert STATISTICS.known_idf("rare") == pytest.approx(RARE)
    assert STATISTICS.known_idf("unseen") == 0


def test_the_idf_of_many_frequencies_is_that_of_each():
    frequencies = [0, 1, 2, 50, 99, 100, 250]

    found = inverse_document_frequencies(np.array(frequencies, float), 100)

    assert found.tolist() == pytest.approx([inverse_document_frequency(each, 100) for each in frequencies])
