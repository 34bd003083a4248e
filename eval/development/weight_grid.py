"""Candidates of questions with the parts of their scores, and nDCG@10 for any weights of these parts."""

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from base.progress import Progress
from eval.qrels import Qrels
from indexer.corpora.papers import Unit
from retriever.index import SearchIndex
from retriever.order.bm25 import Scores
from retriever.order.score_parts import DECIMALS, ScoredCandidates
from retriever.search import SearchRequest, open_ranking, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.pool import CandidatePool
from retriever.stages.stages import Ranking

FIRST = 10
SAME_TITLE = "same title"

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The n candidates of a question, grouped by unit of judgement.

    Args:
        parts: names of the p parts with tried weights.
        values: n × p.
        of_title: n × p, means of the values over the candidates with the same title.
        fixed: n, the sum of the parts with fixed weights.
        first: the first row of each unit.
        grades: grade of each unit.
        ideal: the highest possible DCG@10.
    """

    parts: tuple[str, ...]
    values: Scores
    of_title: Scores
    fixed: Scores
    first: NDArray[np.int64]
    grades: Scores
    ideal: float


async def judged_rankings(
    index: SearchIndex,
    topics: Mapping[str, str],
    qrels: Qrels,
    settings: RetrieverSettings,
    progress: Progress,
) -> AsyncIterator[tuple[Ranking, Mapping[str, int]]]:
    """Rank each question with a relevant judgement; yield the ranking and the judgements.

    Constraints and the place of the other language change the order later, so both are switched off.
    """
    without = settings.without | {"other-language"}
    settings = settings.model_copy(update={"constraints": False, "without": without})
    judged = [query_id for query_id in topics if max(qrels.get(query_id, {}).values(), default=0) > 0]
    for done, query_id in enumerate(judged):
        progress("questions", done, len(judged))
        request = SearchRequest(topics[query_id], collapse=index.manifest.unit == "paper")
        context = open_ranking(index, request, settings)
        yield (await run_stages(context)).ranking or Ranking(), qrels[query_id]


def papers_of(ranking: Ranking) -> dict[str, str]:
    """Return the doc_id of each found passage, and of the abstracts that replaced some of them."""
    hits = [hit for found in (ranking.pool or CandidatePool()).found.values() for hit in found]
    papers = {hit.passage_id: hit.doc_id for hit in hits}
    return papers | {shown: papers[replaced[0]] for shown, replaced in ranking.replaced.items()}


def candidates_of(
    ranking: Ranking,
    parts: Mapping[str, Scores],
    same_title: NDArray[np.int64],
    judged: Mapping[str, int],
    unit: Unit,
    fixed: Scores | None = None,
) -> Candidates:
    """Arrange the candidates of a ranking by unit of judgement, papers or passages.

    Args:
        ranking: of one question, with its pool.
        parts: values of each part of the scores, by name; one per passage, in the order of `ranking.scored`.
        same_title: a number per passage, equal for equal titles, 0 without a title.
        judged: grades by doc_id or passage_id.
        unit: unit of judgement.
        fixed: sums of the parts whose weights are not tuned, one per passage.
    """
    ids = (ranking.scored or ScoredCandidates((), {})).ids
    papers = papers_of(ranking)
    units = [papers[passage_id] if unit == "paper" else passage_id for passage_id in ids]
    rows = sorted(range(len(ids)), key=lambda row: (units[row], ids[row]))  # ties break by id
    distinct, first = np.unique([units[row] for row in rows], return_index=True)
    values = np.column_stack([*parts.values()])[rows]
    best = sorted((grade for grade in judged.values() if grade > 0), reverse=True)[:FIRST]
    return Candidates(
        tuple(parts),
        values,
        _means_of_titles(values, same_title[rows]),
        np.zeros(len(ids)) if fixed is None else fixed[rows],
        first,
        np.array([max(judged.get(one, 0), 0) for one in distinct.tolist()], np.float64),
        sum(grade / log2(rank + 1) for rank, grade in enumerate(best, 1)),
    )


def _means_of_titles(values: Scores, same_title: NDArray[np.int64]) -> Scores:
    """Return the mean of each column over the rows with the same title; without a title, the row itself."""
    same = (same_title[:, None] == same_title) & (same_title > 0) | np.eye(len(values), dtype=np.bool_)
    return np.asarray(same @ values / same.sum(axis=1, keepdims=True))


def ndcg(found: Candidates, tried: Sequence[Weights]) -> Scores:
    """Return the nDCG@10 of a question for each of the weights; a unit scores as its best candidate."""
    if not len(found.first):
        return np.zeros(len(tried))
    weights = np.array([[of.get(part, 0.0) for of in tried] for part in found.parts])
    share = np.array([of.get(SAME_TITLE, 0.0) for of in tried])
    scores = found.values @ (weights * (1 - share)) + found.of_title @ (weights * share)
    scores = np.round(scores + found.fixed[:, None], DECIMALS)
    order = np.argsort(-np.maximum.reduceat(scores, found.first), axis=0, kind="stable")[:FIRST]
    discounts = 1 / np.log2(np.arange(2, len(order) + 2))
    return np.asarray(discounts @ found.grades[order] / found.ideal)


def grid(values: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """Return the combinations, the smaller weights first."""
    combined = [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]
    return sorted(combined, key=lambda weights: sum(weights.values()))


def written(weights: Weights) -> str:
    """Format the weights other than 0."""
    return ", ".join(f"{name} {weight:g}" for name, weight in weights.items() if weight)
