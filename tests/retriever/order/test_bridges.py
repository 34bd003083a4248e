"""Bridges chosen by rarity, and the query that follows them."""

from dataclasses import replace

import pytest

from retriever.order.bridges import SECOND_ROUND, SECOND_SEARCH
from retriever.queries.boolean import Or, Term


def test_the_rarest_bridges_are_chosen_and_ties_ordered_by_token():
    policy = replace(SECOND_SEARCH, bridges=2)
    assert policy.choose({("common",): 1.0, ("quillon",): 3.0, ("marta",): 3.0}) == [("marta",), ("quillon",)]


@pytest.mark.parametrize(("policy", "hits"), [(SECOND_SEARCH, 30), (SECOND_ROUND, 20)])
def test_the_query_is_the_or_of_bridges_and_uncovered_words(policy, hits):
    named = policy.query("bridges", [("marta", "quillon"), ("born",)], {"born": 0.25}, 0.0)
    terms = [("marta", 0.5), ("quillon", 0.5), ("born", 0.25)]
    assert (named.name, named.k) == ("bridges", hits)
    assert named.query == Or(tuple(Term(token, (token,), weight=weight) for token, weight in terms))
