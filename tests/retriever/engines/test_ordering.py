"""Which of the hits read have a definite place."""

import pytest

from retriever.engines import EngineHit
from retriever.engines.ordering import settled

READ = [EngineHit("c#0", "c", 2.0), EngineHit("b#0", "b", 1.0), EngineHit("a#0", "a", 1.0)]


@pytest.mark.parametrize(
    ("limit", "k", "expected"),
    [
        (3, 1, ["c"]),
        (3, 2, None),  # an unread hit may tie with a and b
        (4, 2, ["c", "a"]),  # all were read
    ],
)
def test_hits_that_may_tie_with_an_unread_one_are_not_settled(limit, k, expected):
    hits = settled(READ, limit, k, collapse=False)
    assert expected == (hits if hits is None else [hit.doc_id for hit in hits])
