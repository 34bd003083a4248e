"""Candidates of many questions as arrays, and how well weights of their features order them."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2

import numpy as np

from eval.qrels import Qrels
from indexer.requests import Progress
from retriever.index import SearchIndex
from retriever.order.features import FEATURES
from retriever.order.scored import Scored
from retriever.ranking import Ranking
from retriever.search import SearchRequest, open_ranking, run_stages
from retriever.settings import RetrieverSettings

FIRST = 10
COSINE, SAME_TITLE = "cosine", "same title"
COLUMNS = (*FEATURES, COSINE)
BASE_COLUMN, COSINE_COLUMN = COLUMNS.index("base"), COLUMNS.index(COSINE)

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of all questions that have something relevant, padded to the longest list."""

    values: np.ndarray  # questions, candidates, COLUMNS; the cosine NaN where there is none
    grades: np.ndarray  # questions, candidates; minus infinity for padding
    titles: np.ndarray  # questions, candidates: a number for each title of each question
    ideal: np.ndarray  # questions: the highest DCG@10 there could be


def collect(
    index: SearchIndex,
    topics: Mapping[str, str],
    qrels: Qrels,
    settings: RetrieverSettings,
    progress: Progress,
) -> Candidates:
    """Compute features and cosines of the candidates of each question, without a second search."""
    settings = settings.model_copy(update={"without": settings.without | {"second-hop"}})
    judged = {
        query_id: topics[query_id] for query_id in topics if max(qrels.get(query_id, {}).values(), default=0)
    }

    async def all_of() -> list[Ranking]:
        found = []
        for done, question in enumerate(judged.values()):
            progress("questions", done, len(judged))
            context = open_ranking(index, SearchRequest(question, collapse=False), settings)
            found.append((await run_stages(context)).ranking or Ranking())
        return found

    return _packed(asyncio.run(all_of()), [qrels[query_id] for query_id in judged])


def _packed(rankings: Sequence[Ranking], qrels: Sequence[Mapping[str, int]]) -> Candidates:
    longest = max((len(ranking.scored or ()) for ranking in rankings), default=0)
    values = np.zeros((len(rankings), longest, len(COLUMNS)))
    grades = np.full(values.shape[:2], -np.inf)
    titles = np.arange(grades.size).reshape(grades.shape)
    for place, (ranking, judged) in enumerate(zip(rankings, qrels, strict=True)):
        first: dict[str, int] = {}
        by_id: list[tuple[str, Scored]] = sorted((ranking.scored or {}).items())  # as ties are broken
        for rank, (passage_id, scored) in enumerate(by_id):
            values[place, rank] = (*scored.features.values(), ranking.cosines.get(passage_id, np.nan))
            grades[place, rank] = judged.get(passage_id, 0)
            if title := scored.candidate.title:
                titles[place, rank] = first.setdefault(title, titles[place, rank])
    ideal = [
        sum(grade / log2(rank + 1) for rank, grade in enumerate(sorted(of.values(), reverse=True)[:FIRST], 1))
        for of in qrels
    ]
    return Candidates(values, grades, titles, np.array(ideal))


def scaled(found: Candidates) -> Candidates:
    """Stretch cosines over 0 to 1 and make the base a share of the best one's, as `semantic_parts` does."""
    values = found.values.copy()
    best = values[:, :, BASE_COLUMN].max(axis=1, keepdims=True)
    values[:, :, BASE_COLUMN] /= np.where(best > 0, best, 1.0)
    cosines = values[:, :, COSINE_COLUMN]
    there = np.isfinite(cosines) & np.isfinite(found.grades)
    low, high = (
        reduce(cosines, axis=1, keepdims=True, initial=start, where=there)
        for reduce, start in ((np.min, np.inf), (np.max, -np.inf))
    )
    values[:, :, COSINE_COLUMN] = np.where(
        there, (cosines - low) / np.where(high > low, high - low, 1.0), 0.0
    )
    return replace(found, values=values)


def ndcg(found: Candidates, weights: Weights) -> np.ndarray:
    """Return each question's nDCG@10 in the order by weights; those under one title share `same title`."""
    used = [place for place, name in enumerate(COLUMNS) if weights.get(name)]
    scores = found.values[:, :, used] @ np.array([weights[COLUMNS[place]] for place in used])
    if share := weights.get(SAME_TITLE, 0.0):
        number = np.bincount(found.titles.ravel(), minlength=found.titles.size)
        total = np.bincount(found.titles.ravel(), weights=scores.ravel(), minlength=found.titles.size)
        scores = scores + share * ((total / np.maximum(number, 1))[found.titles] - scores)
    scores = np.where(np.isfinite(found.grades), scores, -np.inf)
    first = np.argsort(-scores, axis=1, kind="stable")[:, :FIRST]
    grades = np.maximum(np.take_along_axis(found.grades, first, axis=1), 0)
    return np.asarray((grades / np.log2(np.arange(2, grades.shape[1] + 2))).sum(axis=1) / found.ideal)


def ndcg_of_all(found: Candidates, tried: Sequence[Weights]) -> np.ndarray:
    """Return the nDCG@10 by weights and question."""
    return np.array([ndcg(found, weights) for weights in tried])


def grid(values: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """List the combinations, the smaller weights first."""
    combined = [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]
    return sorted(combined, key=lambda weights: sum(weights.values()))


def written(weights: Weights) -> str:
    """Name the weights that are not 0."""
    return ", ".join(f"{name} {weight:g}" for name, weight in weights.items() if weight)
