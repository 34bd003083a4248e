"""One run of `shrag index`, from the plan to a publishable build.

A version is built next to the published ones. Records are numbered by their place in the corpus and committed
in this order, so a killed build can resume: it summarises the committed passages, and analyses and writes the
records after the last commit.

The corpus is read first, into a file of its records (`spool.py`), so that records which later ones replace
are never written: BM25 statistics include deleted passages until the engine merges them away. An update of a
published version does delete, commits once at its end, and starts over if it is killed.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from errno import EIO

from base.errors import Remedy
from base.logs import get_logger
from base.progress import Progress
from indexer.analysis.pool import WorkerEnded, analyse_in_order
from indexer.building.plan import BuildPlan
from indexer.building.records import DeadLetterFile, Record, Tally, read_corpus, records_to_write
from indexer.building.source_files import FileRecords
from indexer.building.spool import read_spool, write_spool
from indexer.building.summary import CorpusSummary
from indexer.building.vector_stage import VectorStage
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.files import ENDINGS
from indexer.errors import EmptyCorpus, IndexDamaged, IndexNotWritten
from indexer.files.damage import map_damage_errors
from indexer.files.stored import key_field
from indexer.glossary.mined import find_mentions
from indexer.settings import IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store import IndexStore
from indexer.versions.store.build_folder import DEAD_LETTERS, SPOOL, SUMMARY
from indexer.versions.writers import Writer

log = get_logger("build")


@dataclass(frozen=True, slots=True)
class Built:
    """A publishable build, and its dead letters.

    If nothing changed, the manifest is that of the current version, with the counts of the corpus.
    """

    manifest: Manifest
    letters: DeadLetterFile
    files: FileRecords
    is_changed: bool = True
    absent: Sequence[str] = ()  # ids to remove that are not in the base version


def build_version(
    store: IndexStore, plan: BuildPlan, settings: IndexerSettings, vectors: VectorStage, progress: Progress
) -> Built:
    """Build a version, resuming an interrupted build of the same command; the caller holds `store.writing()`.

    Raises:
        EmptyCorpus: no record could be indexed.
        StrictRefusal: a record was refused in a strict build.
        IndexNotWritten: an analysis process was terminated.
    """
    build = _Build(store, plan, settings, vectors, progress)
    # An update starts over.
    same = plan.base is None and store.local.read_plan() == plan.as_record()
    try:
        if same and (store.local.building / SPOOL).exists() and store.can_resume():
            try:
                return build.run(resumed=True)
            except _Unusable as error:
                log.warning("unfinished build is damaged, starts over", index=store.name, reason=str(error))
        store.start_building(plan.base, plan.request.analyzer, plan.request.decompound, plan.dictionary)
        store.local.write_plan(plan.as_record())
        return build.run()
    except (WorkerEnded, MemoryError) as error:
        cause = f"{error}, perhaps for lack of memory" if str(error) else "there was not enough memory"
        raise IndexNotWritten(
            f"{cause}. The published version remains in use",
            remedy=("repeat the command, which resumes the build", Remedy.FEWER_WORKERS),
            index=store.name,
        ) from error


class _Unusable(Exception):
    """The files of an earlier run of the build cannot be read."""


@dataclass(frozen=True, slots=True)
class _Build:
    store: IndexStore
    plan: BuildPlan
    settings: IndexerSettings
    vectors: VectorStage
    progress: Progress

    def run(self, *, resumed: bool = False) -> Built:
        """Read, analyse, write and summarise the corpus."""
        plan, store, building = self.plan, self.store, self.store.local.building
        letters = DeadLetterFile(building / DEAD_LETTERS, strict=plan.request.strict)
        with letters, ExitStack() as opened:
            tally = Tally(FileRecords.of(plan.corpus), letters)
            try:
                self._read(tally)
                writer, summary = self._open(opened)
            except (IndexDamaged, OSError) as error:
                # The engine raises EIO for files that it cannot read.
                if not resumed or (isinstance(error, OSError) and error.errno != EIO):
                    raise
                raise _Unusable(str(error)) from error
            self._write(writer, summary, tally)
            counts, paths = tally.counts, plan.request.paths
            absent = self._remove(writer, summary, counts) if plan.base and plan.request.removed else []
            is_changed = bool(counts["records"] or counts["removed"]) or plan.publishes_anyway
            is_known = plan.base and (counts["unchanged"] or plan.skipped.names or not paths)
            if not (counts["records"] or counts["removed"] or is_known):
                raise self._nothing_to_index(letters)
            if is_changed or self.vectors.has_missing:
                self.progress("merging", 0, 0)
                writer.commit()
                if paths and writer.passage_count + counts["removed"] == 0:
                    raise self._nothing_to_index(letters)
                counts["replaced"] = writer.replaced - counts["removed"]
                draft = self.vectors.run(plan.draft(store), writer)
                if not paths:
                    counts["encoded"] = draft.vector_count - self.vectors.held_count
                is_changed = is_changed or plan.base is None or draft.vectors != plan.base.vectors
            if plan.base and not is_changed:
                same = replace(plan.base, counts=dict(counts)) if paths else plan.base
                return Built(same, letters, tally.files, is_changed=False)
            writer.finish()
            draft = replace(draft, counts=dict(counts if paths else +counts))
            manifest = summary.complete(building, draft, writer, plan.given, self.progress)
        return Built(manifest, letters, tally.files, absent=absent)

    def _remove(self, writer: Writer, summary: CorpusSummary, counts: Counter[str]) -> list[str]:
        """Remove records of the base version; return the unknown ids."""
        key, removed = key_field(self.plan.corpus.unit), self.plan.request.removed
        present = writer.stored_records(key, sorted(set(removed)))
        for record_id, passages in present.items():
            writer.remove(key, record_id)
            summary.remove(passages)
        counts["removed"] = len(present)
        return [record_id for record_id in removed if record_id not in present]

    def _read(self, tally: Tally) -> None:
        """Read the corpus into the spool, unless an earlier run did, and count its records."""
        spool = self.store.local.building / SPOOL
        if spool.exists():
            for head, _ in read_spool(spool):
                tally.add(head, self.plan)
        else:
            corpus = read_corpus(self.plan, lambda done, total: self.progress("reading", done, total))
            with closing(corpus):  # closes files after an error
                for head in write_spool(spool, corpus):
                    tally.add(head, self.plan)
        tally.finish()

    def _open(self, opened: ExitStack) -> tuple[Writer, CorpusSummary]:
        """Open the build for writing; return it with its summary so far."""
        store, plan = self.store, self.plan
        base = store.companion_path(plan.base, SUMMARY) if plan.base else None
        with map_damage_errors(store.local.building, store.name):
            writer = store.writer(plan.base)
            opened.enter_context(writer)
            summary = CorpusSummary(plan.request.analyzer, plan.request.decompound, plan.dictionary, base)
            if writer.last_written() >= 0 and plan.base is None:
                writer.commit()  # complete interrupted merges
                for passage in writer.stored():
                    summary.add(passage, passage.row)
        return writer, summary

    def _write(self, writer: Writer, summary: CorpusSummary, tally: Tally) -> None:
        """Analyse and write the records after the last commit; commit periodically, but not in an update."""
        plan, unit = self.plan, self.plan.corpus.unit
        written = writer.last_written() + 1
        first = written if plan.base else 0  # an update continues the numbers of its base
        records = records_to_write(self._records(tally), writer if plan.base else None, unit, tally)
        prepared = analyse_in_order(
            (
                (record, passage)
                for record in records
                if first + record.number >= written
                for passage in record.passages
            ),
            find_mentions,
            analyzer=plan.request.analyzer,
            decompound=plan.request.decompound,
            workers=self.settings.workers,
            dictionary=plan.dictionary,
        )
        newest, uncommitted = -1, 0
        with closing(prepared):
            for record, passage, analysed, mentions in prepared:
                if record.number != newest:
                    newest = record.number
                    if plan.base is None and uncommitted == self.settings.commit_every:
                        self.progress("committing", 0, 0)
                        writer.commit()
                        uncommitted = 0
                    uncommitted += 1
                    if record.replaced:
                        writer.remove(key_field(unit), record.id)
                        summary.remove(record.replaced)
                summary.add(passage, writer.add(passage, analysed, first + record.number), mentions)

    def _records(self, tally: Tally) -> Iterator[Record]:
        """Yield the records of the spool, without those that later ones replace."""
        number = -1
        for head, body in read_spool(self.store.local.building / SPOOL):
            if not isinstance(head, DeadLetter):
                number += 1
                self.progress("indexing", number, len(tally.ids))
                if number not in tally.replaced:
                    yield Record(number, head, body)

    def _nothing_to_index(self, letters: DeadLetterFile) -> EmptyCorpus:
        if not letters.count:
            where = ", ".join(map(str, self.plan.request.paths))
            read = f"files with the endings {', '.join(sorted(ENDINGS))} are read"
            found = "; ".join(["no records", *self.plan.corpus.left_out.described()])
            return EmptyCorpus(f"nothing to index in {where}: {found}", remedy=read)
        refused = f"all {letters.count:,} records were refused; the first: " if letters.count > 1 else ""
        return EmptyCorpus(f"nothing to index: {refused}{letters.first[0].described}")
