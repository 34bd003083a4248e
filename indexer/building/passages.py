"""Passages of a build: analysis, and periodic commits."""

from collections.abc import Generator, Iterable
from contextlib import closing

from base.progress import Progress
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.pool import analyse_in_order
from indexer.building.plan import BuildPlan
from indexer.building.records import Record, Tally
from indexer.building.resuming import ResumePoint
from indexer.building.summary import CorpusSummary
from indexer.files.schema import StoredPassage
from indexer.files.stored import key_field, key_of
from indexer.glossary.mined import Mentions, find_mentions, texts_of
from indexer.versions.writers import Writer

Numbered = tuple[int, StoredPassage]  # with the record's number
Prepared = tuple[Numbered, AnalysedPassage, Mentions]


def analyse_passages(
    records: Iterable[Record], plan: BuildPlan, *, workers: int
) -> Generator[Prepared, None, None]:
    """Yield the passages of records with their analysis and the terms mentioned in brackets."""
    yield from analyse_in_order(
        ((record.number, passage) for record in records for passage in record.passages),
        lambda item: texts_of(item[1]),
        find_mentions,
        analyzer=plan.request.analyzer,
        decompound=plan.request.decompound,
        workers=workers,
        dictionary=plan.dictionary,
    )


def write_passages(
    writer: Writer,
    prepared: Generator[Prepared, None, None],
    plan: BuildPlan,
    point: ResumePoint,
    commit_every: int,
    summary: CorpusSummary | None,
    progress: Progress,
) -> None:
    """Write all passages; commit periodically, but an update only at its end."""
    unit, newest, uncommitted = plan.corpus.unit, -1, 0
    with closing(prepared):
        for (number, passage), analysed, mentions in prepared:
            if number != newest:
                newest = number
                if plan.base is None and uncommitted == commit_every:
                    progress("committing", 0, 0)
                    writer.commit()
                    uncommitted = 0
                uncommitted += 1
                if plan.base is not None:
                    writer.replace(key_field(unit), key_of(passage, unit))
            row = writer.add(passage, analysed, point.offset + number)
            if summary:
                summary.add(passage, row, mentions)


def remove_from_base(writer: Writer, plan: BuildPlan, tally: Tally) -> None:
    """Remove the records of the base version that the request names, and count them."""
    if plan.base is None or not plan.request.removed:
        return
    key = key_field(plan.corpus.unit)
    if present := writer.held(key, plan.request.removed):
        for record_id in sorted(present):
            writer.replace(key, record_id)
        tally.counts["removed"] = len(present)
