"""One run of `shrag index`, from the plan to a build that can be published.

A version is built beside those that answer. What a killed build had committed is found again: every record
has a number, its place in the corpus, records are committed in that order, and a resumed build analyses only
those after the last one committed.

BM25's statistics count deleted passages until the engine merges them away, so a corpus that names an id twice
is not written and deleted again: the build notices at its end, and starts over without the records that a
later one replaces. An update of a published version does delete, and commits once, at its end; killed, it
starts over.
"""

import json
from array import array
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from indexer.analysis.pool import AnalysedTexts, WorkerEnded, analyse_in_order
from indexer.chunking import cut_text
from indexer.dead_letters import DeadLetterFile
from indexer.durable import write_durably
from indexer.encoders import Encoder
from indexer.errors import EmptyCorpus, IndexNotWritten, InvalidCall, StrictRefusal
from indexer.fingerprint import Fingerprint, lexical_fingerprint
from indexer.finishing import Seen, finish
from indexer.glossary.mining import texts_of
from indexer.manifest import Manifest, check_analysis
from indexer.papers import Paper
from indexer.readers import Corpus, DeadLetter
from indexer.requests import IngestRequest, Progress
from indexer.schema import StoredPassage
from indexer.settings import IndexerSettings
from indexer.stored import key_field, key_of, stored_passages
from indexer.vectors.stage import VectorStage
from indexer.versions import DEAD_LETTERS, PLAN, IndexFolder
from indexer.writers import Writer

# What a manifest counts, and in which order it says so.
COUNTED = ("records", "replaced", "duplicates", "incomplete", "cut", "dead_letters")
BOUNDED_TEXTS = ("title", "title2", "abstract", "abstract2", "body")


class _StartOver(Exception):
    """What is written cannot be kept; carries the numbers of the records that later ones replace."""

    def __init__(self, superfluous: Sequence[int]) -> None:
        super().__init__(f"without {len(superfluous)} records that are replaced by later ones")
        self.superfluous = superfluous


class Build:
    """A build in the folder's `building`; whoever makes one holds the folder for writing."""

    def __init__(
        self,
        request: IngestRequest,
        settings: IndexerSettings,
        corpus: Corpus,
        folder: IndexFolder,
        progress: Progress,
        encoder: Encoder | None = None,
    ) -> None:
        """Check what is asked against the version that answers, which this one starts from.

        Raises:
            InvalidCall: another analysis, dictionary, encoder or kind of record than the version's.
            IndexMismatch: the version was built by other library versions.
        """
        self.request = request
        self.settings = settings
        self.corpus = corpus
        self.folder = folder
        self.progress = progress
        self.dictionary = request.dictionary
        self.base = self._base()
        self.vectors = VectorStage(folder, encoder, self.base, progress)
        self.vectors.check()
        self.fingerprint = lexical_fingerprint(
            request.analyzer, request.decompound, folder.engine, self.dictionary
        )
        self.version = folder.next_version()
        self.counts: Counter[str] = Counter()
        self.first_dead_letters: list[DeadLetter] = []
        self._superfluous: frozenset[int] = frozenset()
        self._seen: Seen | None = None

    def run(self) -> Manifest:
        """Build, going on where the same command broke off; return the manifest of what can be published.

        Raises:
            EmptyCorpus: no record could be indexed.
            StrictRefusal: a record was refused, and that was to stop the build.
        """
        if not self._found_again():
            self._start(())
        while True:
            try:
                return self._build()
            except _StartOver as found:
                self._start(found.superfluous)
            except WorkerEnded as error:
                raise IndexNotWritten(
                    f"{error}, perhaps for lack of memory. What was published before still answers; give the "
                    "same command again, it goes on where it stopped (fewer --workers need less memory)"
                ) from error

    def _base(self) -> Manifest | None:
        """Return the version that this build starts from, checked against what is asked."""
        if self.request.rebuild or self.folder.current() is None:
            return None
        base = self.folder.manifest()
        asked, built = (self.request.analyzer, self.request.decompound), (base.analyzer, base.decompound)
        if asked != built:
            raise InvalidCall(
                f"index {base.name!r} is analysed as {' '.join(built)}, this call asks for "
                f"{' '.join(asked)}; add --rebuild, or leave the analyzer as it is"
            )
        if base.unit != self.corpus.unit:
            raise InvalidCall(
                f"index {base.name!r} holds records of the kind {base.unit!r}, this corpus is of the kind "
                f"{self.corpus.unit!r}; give it another --name, or --rebuild"
            )
        built_with = self.folder.dictionary(base)
        if self.dictionary is not None and self.dictionary != built_with:
            raise InvalidCall(
                f"index {base.name!r} was built {'with another' if built_with else 'without a'} dictionary; "
                "add --rebuild, or leave --dictionary out"
            )
        self.dictionary = built_with
        check_analysis(base, built_with)
        return base

    def _plan(self) -> dict[str, Any]:
        return plan_of(self.request, self.corpus, self.fingerprint) | {
            "base": self.base.version if self.base else None,
            "version": self.version,
        }

    def _found_again(self) -> bool:
        """Tell whether a build broke off here that this one can go on with."""
        try:
            left = json.loads((self.folder.building / PLAN).read_text(encoding="utf-8"))
            superfluous = left.pop("superfluous")
        except (OSError, ValueError, KeyError):
            return False
        if self.base or left != self._plan() or not self.folder.can_go_on():
            return False
        self._superfluous = frozenset(superfluous)
        return True

    def _start(self, superfluous: Sequence[int]) -> None:
        """Begin anew from the base, or from empty, without the records of those numbers."""
        self.folder.start_building(self.base, self.request.analyzer, self.request.decompound, self.dictionary)
        self._superfluous = frozenset(superfluous)
        plan = self._plan() | {"superfluous": list(superfluous)}
        write_durably(self.folder.building / PLAN, json.dumps(plan))

    def _build(self) -> Manifest:
        building = self.folder.building
        self.counts = Counter(dict.fromkeys(COUNTED, 0))
        with (
            DeadLetterFile(building / DEAD_LETTERS) as letters,
            self.folder.writer(
                self.corpus.unit, lambda letter: self._refuse_written(letter, letters)
            ) as writer,
        ):
            self._write(writer, letters)
            self.first_dead_letters = letters.first
            if self.counts["records"] == 0:
                raise EmptyCorpus(self._why_empty(letters))
            self.progress("merging", 0, 0)
            writer.commit()
            if writer.passage_count == 0:  # the engine would not take any
                raise EmptyCorpus(self._why_empty(letters))
            self.counts["replaced"] = writer.replaced
            draft = Manifest(
                name=self.request.name,
                version=self.version,
                engine=self.folder.engine,
                analyzer=self.request.analyzer,
                decompound=self.request.decompound,
                unit=self.corpus.unit,
                papers=0,
                passages=0,
                published="",
                fingerprint=self.fingerprint,
                counts=dict(self.counts),
                dictionary=self.dictionary.hash if self.dictionary else "",
            )
            draft = self.vectors.run(draft, writer)
            writer.finish()
            return finish(building, draft, writer, self.progress, self.dictionary, self._seen)

    def _write(self, writer: Writer, letters: DeadLetterFile) -> None:
        """Write all records that are not written yet, and commit: an update once, at its end."""
        last, key = writer.last_written()
        # What is written now is looked at on its way; what was there before is read again at the end.
        chain = self.request.analyzer, self.request.decompound, self.dictionary
        self._seen = None if self.base or last >= 0 else Seen(*chain)
        if self.base is None:
            offset, resume_at, known = 0, last + 1, key
            if known is not None:
                writer.commit()  # merges that were cut short
        else:
            offset, resume_at, known = last + 1, 0, None  # numbered on from the base's
        key_name = key_field(self.corpus.unit)
        newest, uncommitted = -1, 0
        passages = self._passages(letters, resume_at, known)
        with closing(self._analysed(passages)) as analysed:
            for (sequence, passage), tokens in analysed:
                if sequence != newest:
                    newest = sequence
                    if self.base is None and uncommitted == self.settings.commit_every:
                        self.progress("committing", 0, 0)
                        writer.commit()
                        uncommitted = 0
                    uncommitted += 1
                    if self.base is not None:
                        writer.replace(key_name, key_of(passage, self.corpus.unit))
                writer.add(passage, tokens.tokens, offset + sequence)
                if self._seen:
                    self._seen.add(passage, tokens.mentions)

    def _analysed(
        self, passages: Iterator[tuple[int, StoredPassage]]
    ) -> Generator[tuple[tuple[int, StoredPassage], AnalysedTexts], None, None]:
        return analyse_in_order(
            passages,
            lambda item: texts_of(item[1]),
            analyzer=self.request.analyzer,
            decompound=self.request.decompound,
            workers=self.settings.workers,
            dictionary=self.dictionary,
        )

    def _passages(
        self, letters: DeadLetterFile, resume_at: int, known: str | None
    ) -> Iterator[tuple[int, StoredPassage]]:
        """Yield the passages to be written with their record's number; count and note on the way.

        `known` is the id of the record before `resume_at`, as it was written.
        """
        hashes = array("q")
        for item in self.corpus:
            stage = "reading" if len(hashes) < resume_at else "indexing"
            self.progress(stage, self.corpus.bytes_read, self.corpus.total_bytes)
            if isinstance(item, DeadLetter):
                self._refuse(item, letters)
                continue
            sequence = len(hashes)
            hashes.append(hash(item.id))
            if sequence in self._superfluous:
                self.counts["duplicates"] += 1
                continue
            self.counts["records"] += 1
            paper = self._bounded(item)
            stored = stored_passages(paper, self.corpus.unit)
            self.counts["incomplete"] += stored[0].incomplete
            if sequence >= resume_at:
                yield from ((sequence, passage) for passage in stored)
            elif sequence == resume_at - 1 and item.id != known:
                raise _StartOver(())  # the corpus is another one, though its files look the same
        if not self._superfluous and (repeated := replaced_by_later(hashes)):
            raise _StartOver(repeated)

    def _refuse(self, letter: DeadLetter, letters: DeadLetterFile) -> None:
        if self.request.strict:
            raise StrictRefusal(
                f"{letter.file}, line {letter.line}: {letter.reason}; nothing was published "
                "(--strict; without it such records are set aside and the rest is indexed)"
            )
        letters.add(letter)
        self.counts["dead_letters"] += 1

    def _refuse_written(self, letter: DeadLetter, letters: DeadLetterFile) -> None:
        """Note what the engine will not take; it was seen, and is not there."""
        self._seen = None
        self._refuse(letter, letters)

    def _bounded(self, paper: Paper) -> Paper:
        """Bound each text of a paper, and count what was cut."""
        cut = {}
        for name in BOUNDED_TEXTS:
            text, shortened = cut_text(getattr(paper, name))
            if shortened:
                cut[name] = text
        if not cut:
            return paper
        self.counts["cut"] += 1
        return paper.model_copy(update=cut)

    def _why_empty(self, letters: DeadLetterFile) -> str:
        if not letters.count:
            return f"nothing to index in {', '.join(map(str, self.request.paths))}: no records"
        letter = letters.first[0]
        return (
            f"nothing to index: all {letters.count:,} records were refused; the first: "
            f"{letter.file}, line {letter.line}: {letter.reason}"
        )


def plan_of(request: IngestRequest, corpus: Corpus, fingerprint: Fingerprint) -> dict[str, Any]:
    """Describe a build so that the same command, given again for the same files, is known for the same."""
    return {
        "files": [_state_of(name) for name in corpus.files],
        "format": corpus.format,
        "columns": dict(request.columns or {}),
        "fingerprint": fingerprint,
    }


def _state_of(name: str) -> list[str | int]:
    """Return what changes when a file does, its permissions included; the hub's have no such."""
    try:
        status = Path(name).stat()
    except OSError:
        return [name]
    return [name, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def replaced_by_later(hashes: "array[int]") -> list[int]:
    """Return the indices of all values that stand again further on."""
    if not hashes:
        return []
    values = np.frombuffer(hashes, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    repeated: list[int] = np.sort(order[:-1][ordered[:-1] == ordered[1:]]).tolist()
    return repeated
