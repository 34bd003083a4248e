"""One run of `shrag index`, from the plan to a publishable build.

A version is built next to the published ones. A killed build can resume (`resuming.py`): records are numbered
by their place in the corpus and committed in this order, and a resumed build analyses only the records after
the last commit.

BM25 statistics include deleted passages until the engine merges them away. Repeated ids in a corpus are
therefore not written and deleted: the build detects them at its end, and starts over without the records that
later ones replace. An update of a published version does delete, commits once at its end, and starts over if
it is killed.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from errno import EIO

from base.errors import Remedy
from base.logs import get_logger
from base.progress import Progress
from indexer.analysis.pool import WorkerEnded
from indexer.building.contested_ids import contested, without_claimed
from indexer.building.file_records import FileRecords
from indexer.building.passages import analyse_passages, remove_from_base, write_passages
from indexer.building.plan import BuildPlan
from indexer.building.records import (
    DeadLetterFile,
    Record,
    Tally,
    changed_records,
    counted_records,
    prepare_passages,
    read_records,
    replaced_by_later,
)
from indexer.building.resuming import ResumePoint, begin, resume_point, skip_written, stored_plan
from indexer.building.summary import CorpusSummary, complete_manifest
from indexer.building.vector_stage import VectorStage
from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.folders import ENDINGS
from indexer.errors import EmptyCorpus, IndexDamaged, IndexNotWritten, StrictRefusal
from indexer.files.damage import map_damage_errors
from indexer.settings import IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store import IndexStore
from indexer.versions.store.build_folder import DEAD_LETTERS
from indexer.versions.writers import Writer

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
    stored = stored_plan(store, plan)
    try:
        built = _build(store, stored, settings, vectors, progress, resumed=True) if stored else plan
        while isinstance(built, BuildPlan):
            built = _build(store, begin(store, built), settings, vectors, progress)
    except (WorkerEnded, MemoryError) as error:
        cause = f"{error}, perhaps for lack of memory" if str(error) else "there was not enough memory"
        raise IndexNotWritten(
            f"{cause}. The published version remains in use",
            remedy=("repeat the command, which resumes the build", Remedy.FEWER_WORKERS),
            index=store.name,
        ) from error
    return built


def _open(opened: ExitStack, store: IndexStore, plan: BuildPlan) -> tuple[Writer, ResumePoint]:
    """Open the build for writing, until `opened` is closed, and find the point of resumption."""
    writer = opened.enter_context(store.writer(plan.corpus.unit, plan.base))
    point = resume_point(writer, plan)
    if point.written:
        writer.commit()  # complete interrupted merges
    return writer, point


def _open_again(opened: ExitStack, store: IndexStore, plan: BuildPlan) -> tuple[Writer, ResumePoint] | None:
    """Open the build of an earlier run; None if it is damaged and must be discarded."""
    try:
        with map_damage_errors(store.local.building, store.name):
            return _open(opened, store, plan)
    except (IndexDamaged, OSError) as error:
        if isinstance(error, OSError) and error.errno != EIO:  # raised by the engine for unreadable files
            raise
        log.warning("unfinished build is damaged and started over", index=store.name, reason=str(error))
        return None


def _build(
    store: IndexStore,
    plan: BuildPlan,
    settings: IndexerSettings,
    vectors: VectorStage,
    progress: Progress,
    *,
    resumed: bool = False,
) -> Built | BuildPlan:
    """Build the version; return a plan to start over with if the written data cannot be kept."""
    tally, building = Tally(files=FileRecords.of(plan.corpus)), store.local.building

    def refuse(letter: DeadLetter) -> None:
        if plan.request.strict:
            raise StrictRefusal(
                f"{letter.described}; nothing was published", remedy=Remedy.ALLOW_DEAD_LETTERS
            )
        letters.add(letter)
        tally.files.add_letter(letter.file)
        tally.counts["dead_letters"] += 1

    with DeadLetterFile(building / DEAD_LETTERS) as letters, ExitStack() as opened:
        open_build = _open_again if resumed else _open
        if (found := open_build(opened, store, plan)) is None:
            return plan
        writer, point = found
        # New passages are summarised while they are written; existing ones are read at the end.
        chain = plan.request.analyzer, plan.request.decompound, plan.dictionary
        summary = None if plan.base or point.written else CorpusSummary(*chain)

        def show_bytes(done: int, total: int) -> None:
            progress("reading" if len(tally.ids) < point.written else "indexing", done, total)

        with closing(read_records(plan, tally, refuse, show_bytes)) as papers:  # closes files after an error
            records = _records_to_write(papers, plan, writer, tally, refuse)
            if not skip_written(records, point):  # the corpus has changed, although its files look the same
                return replace(plan, superfluous=frozenset(), contested=frozenset())
            prepared = analyse_passages(records, plan, workers=settings.workers)
            write_passages(writer, prepared, plan, point, settings.commit_every, summary, progress)
        remove_from_base(writer, plan, tally)
        if better := _plan_without_excluded(plan, tally):
            return better
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
    papers: Iterable[tuple[int, Paper]],
    plan: BuildPlan,
    writer: Writer,
    tally: Tally,
    refuse: Callable[[DeadLetter], None],
) -> Iterator[Record]:
    """Yield the records of papers; in an update without unchanged and conflicting ones."""
    records = prepare_passages(papers, plan)
    if plan.base and plan.corpus.unit == "paper":
        records = without_claimed(records, writer, tally, refuse)
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


def _plan_without_excluded(plan: BuildPlan, tally: Tally) -> BuildPlan | None:
    """Return a plan without superfluous and contested records; None if there are none.

    Numbers of an earlier pass are wrong if a file has vanished or changed since.
    """
    if plan.superfluous != (repeated := frozenset(replaced_by_later(tally.ids))):
        return replace(plan, superfluous=repeated, contested=frozenset())
    if refused := contested(tally, plan.superfluous | plan.contested | tally.refused):
        return replace(plan, contested=plan.contested | refused)
    return None


def _nothing_to_index(plan: BuildPlan, letters: DeadLetterFile) -> EmptyCorpus:
    if not letters.count:
        where = ", ".join(map(str, plan.request.paths))
        read = f"files with the endings {', '.join(sorted(ENDINGS))} are read"
        found = "; ".join(["no records", *plan.corpus.left_out.described()])
        return EmptyCorpus(f"nothing to index in {where}: {found}", remedy=read)
    refused = f"all {letters.count:,} records were refused; the first: " if letters.count > 1 else ""
    return EmptyCorpus(f"nothing to index: {refused}{letters.first[0].described}")
