"""One run of `shrag index`, from the plan to a publishable build.

A version is built next to the published ones. The corpus is read first, into a file of its records, so that
records which later ones replace are never written: BM25 statistics include deleted passages until the engine
merges them away. A build that is killed starts over with this file, and with the vectors encoded so far.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

from base.errors import Remedy
from base.progress import Progress
from indexer.analysis.pool import WorkerEnded, analyse_in_order
from indexer.building.plan import BuildPlan
from indexer.building.records import (
    DeadLetterFile,
    Record,
    Tally,
    read_corpus,
    read_spool,
    records_to_write,
    write_spool,
)
from indexer.building.source_files import ReadRecords
from indexer.building.summary import CorpusSummary
from indexer.building.vector_stage import VectorStage
from indexer.corpora.readers.files import ENDINGS
from indexer.errors import EmptyCorpus, IndexDamaged, IndexNotWritten, StrictRefusal
from indexer.files.damage import map_damage_errors
from indexer.files.stored import key_field
from indexer.glossary.mined import find_mentions
from indexer.settings import IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store import IndexStore
from indexer.versions.store.build_folder import DEAD_LETTERS, SPOOL, SUMMARY
from indexer.versions.writers import Writer

COMMIT_EVERY = 20_000  # records between two commits of the engine


@dataclass(frozen=True, slots=True)
class Built:
    """A build, and its dead letters; if nothing changed, the manifest is that of the current version."""

    manifest: Manifest
    letters: DeadLetterFile
    read: ReadRecords
    is_changed: bool = True
    absent: Sequence[str] = ()  # ids to remove that are not in the base version


def build_version(
    store: IndexStore, plan: BuildPlan, settings: IndexerSettings, vectors: VectorStage, progress: Progress
) -> Built:
    """Build and publish a version; the caller holds `store.writing()`.

    If nothing changed, the current version is kept, with the new dead letters.

    Raises:
        EmptyCorpus: no record could be indexed.
        StrictRefusal: a record was refused in a strict build.
        IndexNotWritten: an analysis process was terminated.
    """
    store.start_building(plan.base, plan.version, plan.analysis, plan.as_record())
    try:
        built = _Build(store, plan, settings, vectors, progress).run()
    except (EmptyCorpus, StrictRefusal):
        store.discard_building()
        raise
    except IndexDamaged:
        (store.local.building / SPOOL).unlink(missing_ok=True)  # it may be the damaged file
        raise
    except (WorkerEnded, MemoryError) as error:
        cause = f"{error}, perhaps for lack of memory" if str(error) else "there was not enough memory"
        raise IndexNotWritten(
            f"{cause}. The published version remains in use",
            remedy=("repeat the command, which resumes the build", Remedy.FEWER_WORKERS),
            index=store.name,
        ) from error
    if built.is_changed:
        built = replace(built, manifest=store.publish(built.manifest, keep=settings.keep_versions))
    else:
        if plan.request.paths:
            store.local.move_dead_letters(built.manifest.version)
        store.discard_building()
    if vectors.encoder or vectors.spooled:
        store.local.forget_encoded()
    return built


@dataclass(frozen=True, slots=True)
class _Build:
    store: IndexStore
    plan: BuildPlan
    settings: IndexerSettings
    vectors: VectorStage
    progress: Progress

    def run(self) -> Built:
        """Read, analyse, write and summarise the corpus."""
        plan, store, building = self.plan, self.store, self.store.local.building
        letters = DeadLetterFile(building / DEAD_LETTERS, strict=plan.request.strict)
        with letters, ExitStack() as opened:
            tally = Tally(ReadRecords(plan.corpus), letters)
            self._read(tally)
            with map_damage_errors(building, store.name):
                writer = store.writer(plan.base)
                opened.enter_context(closing(writer))
                base = store.companion_path(plan.base, SUMMARY) if plan.base else None
                summary = CorpusSummary(*plan.analysis, base)
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
                return Built(same, letters, tally.read, is_changed=False)
            writer.finish()
            draft = replace(draft, counts=dict(counts if paths else +counts))
            manifest = summary.complete(building, draft, writer, plan.given, self.progress)
        return Built(manifest, letters, tally.read, absent=absent)

    def _remove(self, writer: Writer, summary: CorpusSummary, counts: Counter[str]) -> list[str]:
        """Remove records of the base version; return the unknown ids."""
        key, removed = key_field(self.plan.corpus.unit), self.plan.request.removed
        present = writer.stored_records(key, sorted(set(removed)))
        for passages in present.values():
            writer.remove(passages)
            summary.remove(passages)
        counts["removed"] = len(present)
        return [record_id for record_id in removed if record_id not in present]

    def _read(self, tally: Tally) -> None:
        """Read the corpus into the spool, unless an earlier run did, and count its records."""
        spool = self.store.local.building / SPOOL
        if spool.exists():
            items = read_spool(spool)
        else:
            corpus = read_corpus(self.plan, lambda done, total: self.progress("reading", done, total))
            items = write_spool(spool, corpus)
        with closing(items):
            for item in items:
                tally.add(item, self.plan)
        tally.finish()

    def _write(self, writer: Writer, summary: CorpusSummary, tally: Tally) -> None:
        """Analyse and write the records, and commit periodically."""
        plan, unit, first = self.plan, self.plan.corpus.unit, writer.next_sequence()
        records = records_to_write(self._records(tally), writer if plan.base else None, unit, tally)
        analyzer, decompound, dictionary = plan.analysis
        prepared = analyse_in_order(
            ((record, passage) for record in records for passage in record.passages),
            find_mentions,
            analyzer=analyzer,
            decompound=decompound,
            workers=self.settings.workers,
            dictionary=dictionary,
        )
        newest, uncommitted = -1, 0
        with closing(prepared):
            for record, passage, analysed, mentions in prepared:
                if record.number != newest:
                    newest = record.number
                    if uncommitted == COMMIT_EVERY:
                        self.progress("committing", 0, 0)
                        writer.commit()
                        uncommitted = 0
                    uncommitted += 1
                    if record.replaced:
                        writer.remove(record.replaced)
                        summary.remove(record.replaced)
                summary.add(passage, writer.add(passage, analysed, first + record.number), mentions)

    def _records(self, tally: Tally) -> Iterator[Record]:
        """Yield the records of the spool, without those that later ones replace."""
        records = (item for item in read_spool(self.store.local.building / SPOOL) if isinstance(item, Record))
        for number, record in enumerate(records):
            self.progress("indexing", number, len(tally.read.ids))
            if number not in tally.replaced:
                yield record._replace(number=number)

    def _nothing_to_index(self, letters: DeadLetterFile) -> EmptyCorpus:
        if not letters.count:
            where = ", ".join(map(str, self.plan.request.paths))
            read = f"files with the endings {', '.join(sorted(ENDINGS))} are read"
            found = "; ".join(["no records", *self.plan.corpus.left_out.described()])
            return EmptyCorpus(f"nothing to index in {where}: {found}", remedy=read)
        refused = f"all {letters.count:,} records were refused; the first: " if letters.count > 1 else ""
        return EmptyCorpus(f"nothing to index: {refused}{letters.first[0].described}")
