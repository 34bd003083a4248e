"""What a build starts from and makes, written down so that the same command resumes it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from base.errors import InvalidCall, Remedy
from indexer.analysis import UserDictionary
from indexer.corpora.readers import Corpus
from indexer.glossary.given import Entry, GivenPairs
from indexer.glossary.storage import Glossary
from indexer.requests import IngestRequest
from indexer.versions.fingerprint import Fingerprint, lexical_fingerprint
from indexer.versions.manifest import Manifest, check_analysis
from indexer.versions.store import IndexStore
from indexer.versions.store.build_folder import GLOSSARY


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """A build of a corpus; of its records those of `superfluous` numbers are replaced by later ones.

    Those of `contested` numbers are refused: passages of theirs have the ids of earlier records' passages.
    """

    request: IngestRequest
    corpus: Corpus
    version: int
    base: Manifest | None  # the version that it adds to
    dictionary: UserDictionary | None
    fingerprint: Fingerprint
    given: GivenPairs  # for the glossary, which is written last: a resumed build takes what is given now
    superfluous: frozenset[int] = frozenset()
    contested: frozenset[int] = frozenset()

    def as_record(self) -> dict[str, Any]:
        """Return what is the same where the same command is given again for the same files."""
        return {
            "files": [_state_of(name) for name in self.corpus.files],
            "format": self.corpus.format,
            "columns": dict(self.request.columns or {}),
            "fingerprint": self.fingerprint,
            "base": self.base.version if self.base else None,
            "version": self.version,
        }

    def draft(self, store: IndexStore, counts: dict[str, int]) -> Manifest:
        """Return the manifest of what is built, as far as it is known before the passages are counted."""
        return Manifest(
            name=store.name,
            version=self.version,
            engine=store.engine,
            analyzer=self.request.analyzer,
            decompound=self.request.decompound,
            unit=self.corpus.unit,
            papers=0,
            passages=0,
            published="",
            fingerprint=self.fingerprint,
            counts=counts,
            dictionary=self.dictionary.hash if self.dictionary else "",
            source={"paths": list(self.request.paths), "format": self.corpus.format},
        )


def plan_build(
    store: IndexStore, request: IngestRequest, corpus: Corpus, *, general_glossary: bool = True
) -> BuildPlan:
    """Check what is asked against the version that answers, which the build adds to unless it rebuilds.

    Raises:
        InvalidCall: another analysis, dictionary or kind of record than the version's.
        IndexMismatch: the version was built by other library versions, or is of another format.
        IndexDamaged: it is damaged, or nothing says which version answers.
    """
    base, dictionary, own = None, request.dictionary, request.glossary or ()
    if not request.rebuild and store.current() is not None:
        base = store.manifest()
        store.check_files(base, every_byte=True)
        dictionary = _check_request(store, base, request, corpus)
        own = own or own_entries(store, base)
    fingerprint = lexical_fingerprint(request.analyzer, request.decompound, store.engine, dictionary)
    given = GivenPairs(own, general_glossary)
    return BuildPlan(request, corpus, store.next_version(), base, dictionary, fingerprint, given)


def own_entries(store: IndexStore, base: Manifest) -> tuple[Entry, ...]:
    """Return the pairs of a version's glossary that the user gave."""
    if not base.glossary.get("user"):
        return ()
    with Glossary.open(store.companion_path(base, GLOSSARY)) as glossary:
        return tuple(
            Entry(pair.korean, pair.english, pair.target)
            for pair in glossary.pairs()
            if pair.sources == ("user",)
        )


def _check_request(
    store: IndexStore, base: Manifest, request: IngestRequest, corpus: Corpus
) -> UserDictionary | None:
    """Check a request to add to a version; return the version's dictionary."""
    asked, built = (request.analyzer, request.decompound), (base.analyzer, base.decompound)
    if asked != built:
        raise InvalidCall(
            f"index {base.name!r} is analysed as {' '.join(built)}, this call asks for {' '.join(asked)}",
            remedy=("leave the analyzer as it is", Remedy.REBUILD),
            index=base.name,
        )
    if base.unit != corpus.unit:
        raise InvalidCall(
            f"index {base.name!r} holds records of the kind {base.unit!r}, this corpus is of the kind "
            f"{corpus.unit!r}",
            remedy=(Remedy.RENAME, Remedy.REBUILD),
            index=base.name,
        )
    built_with = store.dictionary(base)
    if request.dictionary is not None and request.dictionary != built_with:
        raise InvalidCall(
            f"index {base.name!r} was built {'with another' if built_with else 'without a'} dictionary",
            remedy=("leave the dictionary out", Remedy.REBUILD),
            index=base.name,
        )
    check_analysis(base, built_with)
    return built_with


def resume(store: IndexStore, plan: BuildPlan) -> BuildPlan | None:
    """Return the plan as it was begun, if an unfinished build of it lies there; an update starts over."""
    unfinished = store.local.read_plan()
    if plan.base or not unfinished or not {"superfluous", "contested"} <= unfinished.keys():
        return None
    superfluous, contested = unfinished.pop("superfluous"), unfinished.pop("contested")
    if unfinished != plan.as_record() or not store.can_resume():
        return None
    return replace(plan, superfluous=frozenset(superfluous), contested=frozenset(contested))


def begin(store: IndexStore, plan: BuildPlan) -> BuildPlan:
    """Begin anew from the base, or from empty."""
    store.start_building(plan.base, plan.request.analyzer, plan.request.decompound, plan.dictionary)
    left_out = {"superfluous": sorted(plan.superfluous), "contested": sorted(plan.contested)}
    store.local.write_plan(plan.as_record() | left_out)
    return plan


def _state_of(name: str) -> list[str | int]:
    """Return what changes when a file does, its permissions included; the hub's have no such."""
    try:
        status = Path(name).stat()
    except OSError:
        return [name]
    return [name, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
