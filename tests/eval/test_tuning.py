import asyncio

import numpy as np
import pytest

from base.progress import no_progress
from eval.development import semantic_tuning, tuning
from eval.development.weight_grid import candidates_of, grid, ndcg
from eval.experiments.bench import Bench
from eval.experiments.collections import questions
from eval.experiments.sample import SAMPLE_COLLECTION
from eval.measures import evaluate
from retriever.engines import EngineHit
from retriever.order.score_parts import ScoredCandidates
from retriever.settings import RetrieverSettings
from retriever.stages.pool import CandidatePool
from retriever.stages.stages import Ranking


def packed(base, judged, *, papers=(), titles=(), fixed=None, **parts):
    """Arrange passages A, B, C, … by the values of their parts; each is a paper unless `papers` are named."""
    ids = tuple("ABCDEFGHIJKLMN"[: len(base)])
    values = {"base": np.array(base), **{name: np.array(of) for name, of in parts.items()}}
    hits = tuple(EngineHit(*both, 0.0) for both in zip(ids, papers or ids, strict=True))
    return candidates_of(
        Ranking(scored=ScoredCandidates(ids, {}), pool=CandidatePool({"question": hits})),
        values,
        np.array(titles or [0] * len(base)),
        judged,
        "paper",
        np.array(fixed or [0.0] * len(base)),
    )


def test_the_constants_in_use_give_what_the_method_ranks(tmp_path):
    bench = Bench(tmp_path, tmp_path, no_progress)
    topics, qrels = questions(tmp_path, SAMPLE_COLLECTION, "dev")
    settings = RetrieverSettings(constraints=False, without=frozenset({"other-language"}))

    with bench.open(SAMPLE_COLLECTION, "alone") as index:
        values = asyncio.run(tuning.values_of(index, topics, qrels, no_progress))
        run = bench.rank(index, topics, "shrag", settings)

    of_method = evaluate(qrels, run, ["nDCG@10"]).per_query["nDCG@10"]
    expected = [of_method[query_id] for query_id in topics if query_id in of_method]
    assert values[:, tuning.PLACE_IN_USE] == pytest.approx(expected)


BASE, SHARED = {"base": 1.0}, {"base": 1.0, "same title": 1.0}
SECOND = 0.6309297536  # 1 / log2(3)
RANKED = {
    "by each of the weights": (packed([0.2, 0.5], {"A": 1}), [BASE, {"base": -1.0}], [SECOND, 1.0]),
    "equal scores by id": (packed([0.5, 0.5], {"A": 1}), [BASE], [1.0]),
    "one title shares scores": (
        packed([0.6, 0.5, 0.9], {"B": 1}, titles=[1, 2, 2]),
        [BASE, SHARED],
        [0.5, 1.0],
    ),
    "without a title nothing is shared": (packed([0.9, 0.5, 0.1], {"C": 1}), [SHARED], [0.5]),
    "a paper by its best passage": (
        packed([0.9, 0.5, 0.8], {"P2": 1}, papers=["P1", "P2", "P1"]),
        [BASE],
        [SECOND],
    ),
    "fixed scores are added": (
        packed([0.2, 0.5], {"A": 1}, fixed=[1.0, 0.0]),
        [BASE, {"base": 0.0}],
        [1.0, 1.0],
    ),
    "a relevant paper that is no candidate": (packed([0.2], {"A": 1, "Z": 1}), [BASE], [1 / (1 + SECOND)]),
    "no candidates": (packed([], {"A": 1}), [BASE], [0.0]),
}


@pytest.mark.parametrize(("candidates", "weights", "scores"), RANKED.values(), ids=RANKED)
def test_candidates_are_ordered(candidates, weights, scores):
    assert ndcg(candidates, weights) == pytest.approx(scores)


def test_the_grid_begins_with_the_smallest_weights():
    assert grid({"base": (1.0,), "feedback": (0.2, 0.0)}) == [
        {"base": 1.0, "feedback": 0.0},
        {"base": 1.0, "feedback": 0.2},
    ]


def test_the_constants_for_a_set_are_chosen_by_the_other_sets():
    # The first constants are the best of the first set by far, the second of the two others.
    gains = np.array([[0.9, 0.0], [0.1, 0.2], [0.1, 0.2]])

    assert tuning.chosen_without(gains) == [1, 0, 0]


def test_of_equally_good_constants_the_first_are_chosen():
    assert tuning.chosen_without(np.array([[0.1, 0.1], [0.2, 0.2]])) == [0, 0]


def test_the_gains_of_the_constants_in_use_the_best_and_the_chosen_stand_side_by_side():
    of_cisi, of_tydi = np.zeros((2, len(tuning.TRIED)))
    of_cisi[[tuning.PLACE_IN_USE, 0, 1]] = 0.3, 0.8, 0.0
    of_tydi[[tuning.PLACE_IN_USE, 0, 1]] = 0.1, 0.0, 0.4

    rows = tuning.gain_rows({"cisi": of_cisi, "tydi-ko": of_tydi})

    assert [(row.subject["set"], dict(row.figures)) for row in rows] == [
        ("cisi", {"in use": 0.3, "in sample": 0.8, "left out": 0.0}),
        ("tydi-ko", {"in use": 0.1, "in sample": 0.0, "left out": 0.0}),
        ("mean of training", {"in use": 0.3, "in sample": 0.8, "left out": 0.0}),
        ("mean of all", {"in use": 0.2, "in sample": 0.4, "left out": 0.0}),
    ]


def test_the_heaviest_base_within_one_standard_error_is_taken_and_of_these_the_best():
    tried = [
        {"base": 0.1, "feedback": 0.1},
        {"base": 0.2, "feedback": 0.0},
        {"base": 0.2, "feedback": 0.1},
        {"base": 0.3, "feedback": 0.1},
    ]
    values = np.array(
        [[0.8, 1.0, 0.6, 0.8], [0.8, 0.9, 0.6, 0.8], [0.8, 0.9, 0.6, 0.7], [0.2, 0.9, 0.6, 0.8]]
    )

    assert semantic_tuning.choose(tried, values) == (tried[0], tried[1])
