"""Judged ids in the unit of the index; ids that the index lacks are noted, and refused if it has none."""

from collections.abc import Iterable, Sequence
from itertools import islice

from base.amounts import counted
from eval.errors import NothingJudged
from eval.qrels import Qrels
from eval.units import grades_of_papers
from retriever.index import SearchIndex
from retriever.queries.boolean import EVERYTHING
from retriever.queries.filters import Filters

MOST_LOOKED_UP = 10_000
UNITS = {"paper": "papers", "passage": "passages"}


BY_PAPER = "The qrels judge passages, and the index has papers: the grade of a paper is its highest."


async def in_unit_of(
    index: SearchIndex, qrels: Qrels, topics: Sequence[str], where: str
) -> tuple[Qrels, tuple[str, ...]]:
    """Return qrels in the unit of the index, and notes about a conversion and about ids that it lacks.

    Judgements of passages are converted to judgements of papers if the index has papers and none of the ids.

    Raises:
        NothingJudged: as `check_judged_ids`.
    """
    notes: tuple[str, ...] = ()
    try:
        missing = await check_judged_ids(index, qrels, topics, where)
    except NothingJudged:
        by_paper = {query_id: grades_of_papers(grades) for query_id, grades in qrels.items()}
        if index.manifest.unit != "paper" or by_paper == qrels:
            raise
        qrels, notes = by_paper, (BY_PAPER,)
        missing = await check_judged_ids(index, qrels, topics, where)
    return qrels, (*notes, missing) if missing else notes


async def check_judged_ids(index: SearchIndex, qrels: Qrels, topics: Iterable[str], where: str) -> str:
    """Look up at most 10,000 ids that are relevant to the topics; return a note about missing ones, or "".

    Args:
        index: an open index.
        qrels: in the unit of the index.
        topics: ids of the questions.
        where: path of the qrels, for messages.

    Raises:
        NothingJudged: the index contains none of them; names ids of both, and their units.
    """
    relevant = (found for query_id in topics for found, grade in qrels[query_id].items() if grade > 0)
    ids = list(dict.fromkeys(islice(relevant, MOST_LOOKED_UP)))
    passages, papers = await index.engine.records(ids, ids)
    unit = index.manifest.unit
    known, others = (papers, passages) if unit == "paper" else (passages, papers)
    missing = [each for each in ids if each not in known]
    if len(missing) < len(ids):
        return (
            f"{counted(len(missing), 'relevant id')} of {len(ids):,} not in the index ({missing[0]}, …)."
            if missing
            else ""
        )
    name = index.manifest.name
    if others:
        judged = UNITS["passage" if unit == "paper" else "paper"]
        raise NothingJudged(
            f"{where} judges {judged} ({next(iter(others))}, …), the index {name!r} ranks {UNITS[unit]}; "
            f"build an index whose records are the judged {judged}"
        )
    [first] = await index.engine.search([(EVERYTHING, 1)], filters=Filters(), collapse=unit == "paper")
    example = "".join(f", such as {hit.doc_id if unit == 'paper' else hit.passage_id}" for hit in first)
    raise NothingJudged(
        f"{where}: no relevant id ({missing[0]}, …) is in the index {name!r}, which contains "
        f"{UNITS[unit]}{example}; index the judged corpus, with the ids of the qrels"
    )
