"""Papers of an index in the order of `shrag`, and scores of other papers by the same features."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from retriever.engines import NumberedRows
from retriever.index import SearchIndex
from retriever.order.bm25 import Scores
from retriever.order.measured import Measure, Measured, measure
from retriever.order.weights import lexical_parts
from retriever.relevance.expected_f import READ
from retriever.relevance.score_curve import ScoreCurve
from retriever.requests.request import SearchRequest
from retriever.search import open_ranking, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.stages import computed


@dataclass(frozen=True, slots=True)
class RankedPapers:
    """The first papers for a question.

    Args:
        scores: by paper_id, best first: lexical scores, before losses to exclusions and years.
        curve: of these scores.
        measure: for the scores of other papers; None if the question has no words.
    """

    scores: Mapping[str, float]
    curve: ScoreCurve
    measure: Measure | None = None


async def rank_papers(
    index: SearchIndex, request: SearchRequest, settings: RetrieverSettings
) -> RankedPapers:
    """Rank the papers of an index by `shrag`, or its passages if the index holds passages without papers.

    Raises:
        BadQuestion, BadFilter: a request that cannot be used.
    """
    papers = index.manifest.unit == "paper"
    context = open_ranking(index, replace(request, k=READ, collapse=papers), settings)
    ranking = computed((await run_stages(context)).ranking)
    scored, measured = ranking.scored, ranking.measured
    if scored is None or measured is None or ranking.measure is None:
        return RankedPapers({}, ScoreCurve.of((), 0))
    by_words = (_by_words(measured) if ranking.by_vectors else scored.scores).tolist()
    scores: dict[str, float] = {}
    for hit, _ in ranking.hits[:READ]:
        if hit.passage_id in scored:
            paper_id = hit.doc_id if papers else hit.passage_id
            scores.setdefault(paper_id, by_words[scored.row[hit.passage_id]])
    curve = ScoreCurve.of(list(scores.values()), len(ranking.measure.concepts))
    return RankedPapers(scores, curve, ranking.measure)


async def scores_of(index: SearchIndex, ranked: RankedPapers, paper_ids: Iterable[str]) -> dict[str, float]:
    """Return the scores of papers by id, without ids that the index does not hold.

    A paper that is not among those ranked is scored by its first passage.
    """
    wanted = dict.fromkeys(paper_ids)
    scores = {paper_id: ranked.scores[paper_id] for paper_id in wanted if paper_id in ranked.scores}
    missing, by = [paper_id for paper_id in wanted if paper_id not in scores], ranked.measure
    if not missing or by is None:
        return scores
    passages = {paper_id: paper_id for paper_id in missing}
    if index.manifest.unit == "paper":
        firsts = await index.engine.papers(missing)
        passages = {first.passage_id: paper_id for paper_id, first in firsts.items()}

    def measured(read: NumberedRows) -> dict[str, float]:
        of_rows = _by_words(measure(by, read)).tolist() if read.ids else []
        return {passages[passage_id]: score for passage_id, score in zip(read.ids, of_rows, strict=True)}

    return scores | await index.engine.of_rows(list(passages), measured)


def _by_words(measured: Measured) -> Scores:
    return np.asarray(sum(values * weight for values, weight in lexical_parts(measured.features).values()))
