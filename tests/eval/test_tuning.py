import asyncio

import numpy as np
import pytest

from eval.experiments import semantic_tuning, tuning
from eval.experiments.bench import Bench
from eval.experiments.collections import questions
from eval.experiments.golden import SAMPLE_COLLECTION
from eval.experiments.weight_grid import COLUMNS, COSINE, Candidates, collect, grid, ndcg, scaled
from eval.measures import evaluate
from eval.ranking import rank_topics
from indexer.requests import no_progress
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from tests.retriever.papers import index_of


def candidates(base, grades, *, titles=None, cosines=None):
    """Return the candidates of questions of which only the base, and the cosine, are known."""
    values = np.zeros((*np.shape(base), len(COLUMNS)))
    values[:, :, COLUMNS.index("base")] = base
    values[:, :, -1] = np.nan if cosines is None else cosines
    titles = np.arange(np.size(base)).reshape(np.shape(base)) if titles is None else np.array(titles)
    return Candidates(values, np.array(grades), titles, np.ones(len(base)))


def test_the_weights_in_use_give_what_the_method_ranks(tmp_path):
    bench = Bench(tmp_path, tmp_path, no_progress)
    topics, qrels = questions(tmp_path, SAMPLE_COLLECTION, "dev")
    settings = RetrieverSettings(constraints=False, without=frozenset({"second-hop"}))

    with bench.open(SAMPLE_COLLECTION, "alone") as index:
        found = collect(index, topics, qrels, settings, no_progress)
        request = SearchRequest("", k=100, collapse=False)
        run = asyncio.run(rank_topics(index, topics, request, settings))

    of_method = evaluate(qrels, run, ["nDCG@10"]).per_query["nDCG@10"]
    expected = [of_method[query_id] for query_id in topics if query_id in of_method]
    assert ndcg(found, tuning.IN_USE) == pytest.approx(expected)


def test_candidates_are_ordered_by_weights():
    found = candidates([[0.2, 0.5, 0.9]], [[1.0, 0.0, -np.inf]])

    assert ndcg(found, {"base": 1.0}) == pytest.approx([0.6309297536])
    assert ndcg(found, {"base": -1.0}) == pytest.approx([1.0])


def test_passages_under_one_title_share_their_scores():
    found = candidates([[0.6, 0.5, 0.9]], [[0.0, 1.0, 0.0]], titles=[[0, 1, 1]])

    assert ndcg(found, {"base": 1.0}) == pytest.approx([0.5])
    assert ndcg(found, {"base": 1.0, "same title": 1.0}) == pytest.approx([1.0])


def test_passages_without_a_title_are_told_apart(tmp_path):
    papers = [{"id": f"P{number}", "title": "", "abstract": f"Quokka {number}."} for number in range(3)]
    with index_of(tmp_path, *papers) as index:
        found = collect(index, {"1": "quokka"}, {"1": {"P1": 1}}, RetrieverSettings(), no_progress)

    assert found.titles.size == len(papers)
    assert len(set(found.titles.ravel())) == len(papers)


def test_a_candidate_without_vector_counts_as_the_least_similar():
    found = scaled(candidates([[4.0, 2.0, 1.0]], [[0.0, 1.0, 0.0]], cosines=[[np.nan, 0.9, 0.5]]))

    assert found.values[0, :, 0].tolist() == [1.0, 0.5, 0.25]
    assert found.values[0, :, -1].tolist() == [0.0, 1.0, 0.0]
    assert ndcg(found, {COSINE: 1.0, "base": 0.5}) == pytest.approx([1.0])


def test_the_grid_begins_with_the_smallest_weights():
    assert grid({"base": (1.0,), "coverage": (0.2, 0.0)}) == [
        {"base": 1.0, "coverage": 0.0},
        {"base": 1.0, "coverage": 0.2},
    ]


def test_by_folds_a_question_is_ranked_with_weights_chosen_without_it():
    # The first weights are better by far for the first question, the second by little for all others.
    table = np.array([[1.0] + 9 * [0.5], [0.0] + 9 * [0.6]])

    assert table.mean(axis=1).tolist() == pytest.approx([0.55, 0.54])
    assert tuning.by_folds([], table) == pytest.approx((0.0 + 0.6 + 8 * 0.5) / 10)


def test_the_heaviest_base_within_one_standard_error_is_taken_and_of_these_the_best():
    tried = [
        {"base": 0.1, "coverage": 0.1},
        {"base": 0.2, "coverage": 0.0},
        {"base": 0.2, "coverage": 0.1},
        {"base": 0.3, "coverage": 0.1},
    ]
    values = np.array(
        [[0.8, 1.0, 0.6, 0.8], [0.8, 0.9, 0.6, 0.8], [0.8, 0.9, 0.6, 0.7], [0.2, 0.9, 0.6, 0.8]]
    )

    assert semantic_tuning.choose(tried, values) == (tried[0], tried[1])
