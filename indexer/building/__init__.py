"""One run of `shrag index`, from the plan to a publishable build.

A version is built next to the published ones. Records are numbered by their place in the corpus and committed
in this order, so a killed build can resume: it summarises the committed passages, and analyses and writes the
records after the last commit.

The corpus is read first, into a file of its records (`record_spool.py`), so that records which later ones
replace are never written: BM25 statistics include deleted passages until the engine merges them away. An
update of a published version does delete, commits once at its end, and starts over if it is killed.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from errno import EIO

from base.errors import Remedy
from base.logs import get_logger
from base.progress import Progress
from indexer.analysis.pool import WorkerEnded
from indexer.building.contested_ids import without_claimed
from indexer.building.file_records import FileRecords
from indexer.building.passages import analyse_passages, remove_records, write_passages
from indexer.building.plan import BuildPlan
from indexer.building.record_spool import RecordSpool
from indexer.building.records import (
    DeadLetterFile,
    Record,
    Tally,
    changed_records,
    counted_records,
    read_corpus,
)
from indexer.building.summary import CorpusSummary, complete_manifest
from indexer.building.vector_stage import VectorStage
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.files import ENDINGS
from indexer.errors import EmptyCorpus, IndexDamaged, IndexNotWritten, StrictRefusal
from indexer.files.damage import map_damage_errors
from indexer.files.stored import key_field
from indexer.settings import IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store import IndexStore
from indexer.versions.store.build_folder import DEAD_LETTERS, SPOOL, SUMMARY
from indexer.versions.writers import Writer

Refuse = Callable[[DeadLetter], None]

log = get_logger("build")


@dataclass(frozen=True, slots=True)
class Built:
    """A publishable build, its first dead letters, and the number of dead letters written to disk.

    If nothing changed, the manifest is that of the current version with the counts of this build.
    """

    manifest: Manifest
    first_dead_letters: list[DeadLetter]
    dead_letters_written: int
    files: FileRecords
    is_changed: bool = True


def build_version(
    store: IndexStore, plan: BuildPlan, settings: IndexerSettings, vectors: VectorStage, progress: Progress
) -> Built:
    """Build a version, resuming an interrupted build of the same command; the caller holds `store.writing()`.

    Raises:
        EmptyCorpus: no record could be indexed.
        StrictRefusal: a record was refused in a strict build.
        IndexNotWritten: an analysis process was terminated.
    """
    try:
        if _can_resume(store, plan):
            try:
                return _build(store, plan, settings, vectors, progress, resumed=True)
            except _Unusable as error:
                log.warning(
                    "unfinished build is damaged and started over", index=store.name, reason=str(error)
                )
        store.start_building(plan.base, plan.request.analyzer, plan.request.decompound, plan.dictionary)
        store.local.write_plan(plan.as_record())
        return _build(store, plan, settings, vectors, progress)
    except (WorkerEnded, MemoryError) as error:
        cause = f"{error}, perhaps for lack of memory" if str(error) else "there was not enough memory"
        raise IndexNotWritten(
            f"{cause}. The published version remains in use",
            remedy=("repeat the command, which resumes the build", Remedy.FEWER_WORKERS),
            index=store.name,
        ) from error


class _Unusable(Exception):
    """The files of an earlier run of the build cannot be read."""


def _can_resume(store: IndexStore, plan: BuildPlan) -> bool:
    """Check whether there is an unfinished build of this plan, whose corpus was read; not for an update."""
    spool = RecordSpool(store.local.building / SPOOL)
    same = plan.base is None and store.local.read_plan() == plan.as_record()
    return same and spool.is_complete() and store.can_resume()


def _read_records(
    plan: BuildPlan, spool: RecordSpool, tally: Tally, refuse: Refuse, progress: Progress
) -> None:
    """Read the corpus into the spool, unless an earlier run did, and count its records."""

    def show_bytes(done: int, total: int) -> None:
        progress("reading", done, total)

    with ExitStack() as opened:
        if spool.is_complete():
            heads = spool.heads()
        else:
            corpus = opened.enter_context(
                closing(read_corpus(plan, show_bytes))
            )  # closes files after an error
            heads = spool.write(corpus)
        for head in heads:
            if isinstance(head, DeadLetter):
                refuse(head)
            else:
                tally.add(head, plan)
    tally.finish()


def _open(opened: ExitStack, store: IndexStore, plan: BuildPlan) -> tuple[Writer, CorpusSummary, int]:
    """Open the build for writing; return it with its summary so far, and the number of its next record."""
    base = store.companion_path(plan.base, SUMMARY) if plan.base else None
    with map_damage_errors(store.local.building, store.name):
        writer = opened.enter_context(store.writer(plan.base))
        last = writer.last_written()
        summary = CorpusSummary(plan.request.analyzer, plan.request.decompound, plan.dictionary, base)
        if last >= 0 and plan.base is None:
            writer.commit()  # complete interrupted merges
            for passage in writer.stored():
                summary.add(passage, passage.row)
    return writer, summary, last + 1


def _build(
    store: IndexStore,
    plan: BuildPlan,
    settings: IndexerSettings,
    vectors: VectorStage,
    progress: Progress,
    *,
    resumed: bool = False,
) -> Built:
    tally, building = Tally(FileRecords.of(plan.corpus)), store.local.building
    spool = RecordSpool(building / SPOOL)

    def refuse(letter: DeadLetter) -> None:
        if plan.request.strict:
            raise StrictRefusal(
                f"{letter.described}; nothing was published", remedy=Remedy.ALLOW_DEAD_LETTERS
            )
        letters.add(letter)
        tally.files.add_letter(letter.file)
        tally.counts["dead_letters"] += 1

    with DeadLetterFile(building / DEAD_LETTERS) as letters, ExitStack() as opened:
        try:
            _read_records(plan, spool, tally, refuse, progress)
            writer, summary, written = _open(opened, store, plan)
        except (IndexDamaged, OSError) as error:
            # The engine raises EIO for files that it cannot read.
            if not resumed or (isinstance(error, OSError) and error.errno != EIO):
                raise
            raise _Unusable(str(error)) from error
        records = _records_to_write(spool, plan, writer, tally, refuse, progress)
        first = written if plan.base else 0  # an update continues the numbers of its base
        new = (record for record in records if first + record.number >= written)
        prepared = analyse_passages(new, plan, workers=settings.workers)
        write_passages(writer, prepared, plan, first, settings.commit_every, summary, progress)
        if plan.base and plan.request.removed:
            key = key_field(plan.corpus.unit)
            tally.counts["removed"] = remove_records(writer, summary, key, plan.request.removed)
        if tally.counts["records"] + tally.counts["removed"] == 0 and (
            same := _without_changes(plan, tally, letters)
        ):
            return same
        progress("merging", 0, 0)
        writer.commit()
        if writer.passage_count + tally.counts["removed"] == 0:
            raise _nothing_to_index(plan, letters)
        tally.counts["replaced"] = writer.replaced - tally.counts["removed"]
        draft = vectors.run(plan.draft(store, dict(tally.counts)), writer)
        writer.finish()
        manifest = complete_manifest(building, draft, writer, progress, plan.dictionary, plan.given, summary)
    return Built(manifest, letters.first, letters.written, tally.files)


def _records_to_write(
    spool: RecordSpool,
    plan: BuildPlan,
    writer: Writer,
    tally: Tally,
    refuse: Refuse,
    progress: Progress,
) -> Iterator[Record]:
    """Yield the records; in an update without unchanged and conflicting ones."""
    total = len(tally.ids)

    def read() -> Iterator[Record]:
        for number, (head, body) in enumerate(spool.records()):
            progress("indexing", number, total)
            if number not in tally.superfluous:
                yield Record(number, head, body)

    records = read()
    if plan.corpus.unit == "paper":
        records = without_claimed(records, writer if plan.base else None, tally, refuse)
    if plan.base:
        records = changed_records(records, writer, plan.corpus.unit, tally)
    return counted_records(records, tally)


def _without_changes(plan: BuildPlan, tally: Tally, letters: DeadLetterFile) -> Built | None:
    """Return the result of an update without changed records; None if it is published anyway.

    Raises:
        EmptyCorpus: there are no records at all.
    """
    if not plan.base or not (tally.counts["unchanged"] or plan.skipped.names):
        raise _nothing_to_index(plan, letters)
    if plan.publishes_anyway:
        return None
    same = replace(plan.base, counts=dict(tally.counts))
    return Built(same, letters.first, letters.written, tally.files, is_changed=False)


def _nothing_to_index(plan: BuildPlan, letters: DeadLetterFile) -> EmptyCorpus:
    if not letters.count:
        where = ", ".join(map(str, plan.request.paths))
        read = f"files with the endings {', '.join(sorted(ENDINGS))} are read"
        found = "; ".join(["no records", *plan.corpus.left_out.described()])
        return EmptyCorpus(f"nothing to index in {where}: {found}", remedy=read)
    refused = f"all {letters.count:,} records were refused; the first: " if letters.count > 1 else ""
    return EmptyCorpus(f"nothing to index: {refused}{letters.first[0].described}")
