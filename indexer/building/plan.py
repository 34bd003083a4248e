"""The request of `shrag index`, and its plan, checked against the current version."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from base.errors import InvalidCall, Remedy
from base.versions import installed_version
from indexer.analysis import Decompound, UserDictionary
from indexer.building.source_files import (
    SkippedFiles,
    SourceFiles,
    State,
    absolute,
    choose_skipped,
    state_of,
    states_of,
    version_key,
)
from indexer.corpora.papers import Unit
from indexer.corpora.record_source import RecordSource
from indexer.glossary.given import Entry, GivenPairs
from indexer.glossary.storage import Glossary
from indexer.settings import IndexerSettings
from indexer.versions.manifest import (
    Fingerprint,
    Manifest,
    check_analysis,
    harvests_in,
    lexical_fingerprint,
)
from indexer.versions.store import IndexStore
from indexer.versions.store.build_folder import DERIVED_FROM, GLOSSARY


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Arguments of `shrag index`; without paths, records are removed or passages encoded."""

    name: str
    paths: Sequence[str]
    format: str | None = None
    columns: Mapping[str, str] | None = None
    analyzer: str = "bilingual"
    decompound: Decompound = "discard"
    rebuild: bool = False
    strict: bool = False
    follow_links: bool = False  # also out of the folders of the corpus
    dictionary: UserDictionary | None = None  # default: that of the current version
    glossary: tuple[Entry, ...] | None = None  # default: that of the current version
    removed: Sequence[str] = ()  # ids of records to remove; unknown ones are ignored
    harvests: Mapping[str, Any] | None = None  # the state of harvested repositories, kept in the manifest


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """A build of a corpus."""

    request: IngestRequest
    corpus: RecordSource
    version: int
    base: Manifest | None  # the version that the build adds to
    dictionary: UserDictionary | None
    fingerprint: Fingerprint
    given: GivenPairs  # for the glossary, which is written last; a resumed build uses the current pairs
    known: SourceFiles = field(default_factory=SourceFiles)  # of the base, read with the same options
    states: Mapping[str, State] = field(default_factory=dict)  # of the corpus's files, by absolute paths
    skipped: SkippedFiles = field(default_factory=SkippedFiles)

    @property
    def analysis(self) -> tuple[str, Decompound, UserDictionary | None]:
        """The analysis of the index: analyzer, mode of compounds, and dictionary."""
        return self.request.analyzer, self.request.decompound, self.dictionary

    def as_record(self) -> dict[str, Any]:
        """Return the values that identify the same command on the same files."""
        return {
            "files": [state_of(name) for name in self.corpus.files],
            "format": self.corpus.format,
            "options": self.known.options,
            "fingerprint": self.fingerprint,
            "base": self.base.version if self.base else None,
            "version": self.version,
        }

    @property
    def publishes_anyway(self) -> bool:
        """Whether the glossary or the state of harvests changes, even if no record does."""
        request, base = self.request, self.base
        if base is None or request.glossary is not None or request.harvests is not None:
            return True
        return bool(base.glossary.get("general")) != self.given.general

    def draft(self, store: IndexStore) -> Manifest:
        """Return the draft manifest, without the counts."""
        paths, format_ = list(self.request.paths), self.corpus.format
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
            dictionary=self.dictionary.hash if self.dictionary else "",
            source=({"paths": paths, "format": format_} if paths else {})
            | harvests_in(self.base, self.request.harvests),
        )


def plan_build(
    store: IndexStore, request: IngestRequest, corpus: RecordSource, settings: IndexerSettings
) -> BuildPlan:
    """Check a request against the current version, to which the build adds unless it rebuilds.

    The corpus leaves out the files that are unchanged since the current version was made of them.

    Raises:
        InvalidCall: analysis, dictionary or kind of record differ from the version's.
        IndexMismatch: the version was built with other library versions, or has another format.
        IndexDamaged: the version is damaged, or there is no record of the current version.
    """
    base, dictionary, own = None, request.dictionary, request.glossary or ()
    if not request.rebuild and store.current() is not None:
        base = store.manifest()
        store.check_files(base, names=DERIVED_FROM)
        dictionary = check_request(store, base, request, corpus.unit)
        own = own or own_entries(store, base)
    fingerprint = lexical_fingerprint(request.analyzer, request.decompound, store.engine, dictionary)
    general = settings.general_glossary
    if base and not request.paths:  # the call is about something else
        general = bool(base.glossary.get("general"))
    options = {  # with which a file gives the same records
        "release": installed_version("shrag"),
        "format": request.format,
        "columns": dict(request.columns or {}),
        "grobid": settings.grobid_url,
    }
    known = SourceFiles.read(store.local.sources, version_key(base) if base else "", options)
    states = states_of(corpus)
    skipped = choose_skipped(known, states, request.paths)
    corpus.skip({name for name in corpus.sources if absolute(name) in skipped.names})
    return BuildPlan(
        *(request, corpus, store.next_version(), base, dictionary, fingerprint),
        *(GivenPairs(own, general), known, states, skipped),
    )


def own_entries(store: IndexStore, base: Manifest) -> tuple[Entry, ...]:
    """Return the user's pairs in a version's glossary."""
    if not base.glossary.get("user"):
        return ()
    with Glossary(store.companion_path(base, GLOSSARY)) as glossary:
        return tuple(
            Entry(pair.korean, pair.english, pair.target)
            for pair in glossary.pairs()
            if pair.sources == ("user",)
        )


def check_request(
    store: IndexStore, base: Manifest, request: IngestRequest, unit: Unit
) -> UserDictionary | None:
    """Check a request to add to a version; return the version's dictionary. Raises as `plan_build`."""
    asked, built = (request.analyzer, request.decompound), (base.analyzer, base.decompound)
    if asked != built:
        raise InvalidCall(
            f"index {base.name!r} is analysed as {' '.join(built)}, but this call requests {' '.join(asked)}",
            remedy=("use the same analyzer", Remedy.REBUILD),
            index=base.name,
        )
    if base.unit != unit:
        raise InvalidCall(
            f"index {base.name!r} contains records of the kind {base.unit!r}, this corpus is of the kind "
            f"{unit!r}",
            remedy=(Remedy.RENAME, Remedy.REBUILD),
            index=base.name,
        )
    built_with = store.dictionary(base)
    if request.dictionary is not None and request.dictionary != built_with:
        raise InvalidCall(
            f"index {base.name!r} was built {'with another' if built_with else 'without a'} dictionary",
            remedy=("omit the dictionary", Remedy.REBUILD),
            index=base.name,
        )
    check_analysis(base, built_with)
    return built_with
