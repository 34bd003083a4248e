"""Passages of a build: analysis, and periodic commits."""

from collections.abc import Generator, Iterable
from contextlib import closing

from base.progress import Progress
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.pool import analyse_in_order
from indexer.building.plan import BuildPlan
from indexer.building.records import Record
from indexer.building.summary import CorpusSummary
from indexer.files.schema import StoredPassage
from indexer.files.stored import key_field
from indexer.glossary.mined import Mentions, find_mentions, texts_of
from indexer.versions.writers import Writer

Prepared = tuple[tuple[Record, StoredPassage], AnalysedPassage, Mentions]


def analyse_passages(
    records: Iterable[Record], plan: BuildPlan, *, workers: int
) -> Generator[Prepared, None, None]:
    """Yield the passages of records with their analysis and the terms mentioned in brackets."""
    yield from analyse_in_order(
        ((record, passage) for record in records for passage in record.passages),
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
    first: int,
    commit_every: int,
    summary: CorpusSummary,
    progress: Progress,
) -> None:
    """Write all passages; commit periodically, but an update only at its end.

    `first` is added to the numbers of the records.
    """
    key, newest, uncommitted = key_field(plan.corpus.unit), -1, 0
    with closing(prepared):
        for (record, passage), analysed, mentions in prepared:
            if record.number != newest:
                newest = record.number
                if plan.base is None and uncommitted == commit_every:
                    progress("committing", 0, 0)
                    writer.commit()
                    uncommitted = 0
                uncommitted += 1
                if record.replaced:
                    writer.remove(key, record.id)
                    summary.remove(record.replaced)
            summary.add(passage, writer.add(passage, analysed, first + record.number), mentions)


def remove_records(writer: Writer, summary: CorpusSummary, key: str, ids: Iterable[str]) -> int:
    """Remove records of the base version; return the number of removed records."""
    present = writer.stored_records(key, sorted(set(ids)))
    for record_id, passages in present.items():
        writer.remove(key, record_id)
        summary.remove(passages)
    return len(present)
