"""The stored tokens of candidates, counted and placed, and what BM25 makes of them."""

import asyncio

import pytest

from indexer.packing import PassageTokens
from retriever.engines import EngineHit
from retriever.order.candidates import Candidate, Scale
from tests.retriever.order.by_hand import candidate
from tests.retriever.papers import index_of


def test_the_title_in_the_other_language_counts_and_stands_far_behind_the_text():
    passage = candidate("graph theory", title2="graph 이론")

    assert passage.counts == {"graph": 2, "theory": 1, "이론": 1}
    (_, first), (_, last) = passage.occurrences({"theory", "이론"})
    assert (first, last) == ("theory", "이론")
    assert passage.places({"이론"})["이론"][0] - passage.places({"theory"})["theory"][0] >= 100


def test_tokens_stand_where_dropped_words_leave_them():
    passage = candidate("graph _3 theory")

    assert passage.places({"graph", "theory"}) == {"graph": [0], "theory": [4]}


def test_stacked_tokens_are_found_at_their_positions():
    packed = PassageTokens.pack([("지식검색", 0, 0, 4), ("지식", 0, 0, 2), ("검색", 1, 2, 4)])
    passage = Candidate(EngineHit("P", "P", 1.0), "", "ko", packed)

    assert passage.places({"지식검색", "지식", "검색"}) == {"지식검색": [0], "지식": [0], "검색": [1]}


def test_stored_passages_are_counted_with_both_titles(tmp_path):
    paper = {"id": "P1", "title": "Axolotl limbs", "abstract": "The limbs of it.", "title2": "Quokka"}
    with index_of(tmp_path, paper) as index:
        stored = asyncio.run(index.engine.passages(["P1"]))
        passage = Candidate.of(EngineHit("P1", "P1", 1.0), stored["P1"], index)

    assert passage.counts == {"axolotl": 1, "limb": 2, "quokka": 1}
    assert passage.title_counts == {"axolotl": 1, "limb": 1}


def test_a_token_scores_its_idf_once_in_a_text_of_average_length():
    scale = Scale.of([candidate("graph theory"), candidate("other words")], 0.0)

    assert scale.scores([candidate("graph theory")], {"graph": 3.0})["graph"] == pytest.approx([3.0])


def test_a_token_of_the_title_counts_once_more_by_the_titles_weight():
    passage = candidate("graph theory", "graph theory")
    scale = Scale.of([passage], 0.5)

    assert scale.scores([passage], {"graph": 3.0})["graph"] == pytest.approx([4.5])
    assert scale.scores([passage], {"graph": 3.0}, titles=False)["graph"] == pytest.approx([3.0])


def test_more_of_a_token_scores_more_and_a_longer_text_less():
    passages = [candidate("graph graph a b"), candidate("graph a b c"), candidate("graph a b c d e f g")]
    scores = Scale(4.0, 1.0, 0.0).scores(passages, {"graph": 1.0})["graph"]

    # 1.9 tf / (tf + .9 (.25 + .75 length / 4)): tf 2, tf 1, and tf 1 in a text of twice the length.
    assert scores == pytest.approx([3.8 / 2.9, 1.0, 1.9 / (1 + 0.9 * 1.75)])


def test_candidates_without_any_token_score_nothing():
    scale = Scale.of([candidate("")], 0.4)

    assert scale.scores([candidate("")], {"graph": 3.0}) == {"graph": [0.0]}
