"""The manifest of a published version, and its fingerprint, which refuses an index of another analysis."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, Self

from base.errors import Remedy
from base.files.durable import write_durably
from indexer.analysis import Decompound, UserDictionary
from indexer.corpora.papers import Unit
from indexer.encoders import VectorFingerprint
from indexer.errors import IndexDamaged, IndexMismatch
from indexer.files.schema import SCHEMA_VERSIONS
from indexer.files.sums import SUM, FileSum, sum_of
from indexer.settings import EngineName

# The number of the tokens: it changes when any analyzer makes other tokens of a text.
ANALYSIS_VERSION = 3
CHUNKING_VERSION = 1
Fingerprint = dict[str, str]
MANIFEST = "manifest.json"
FORMAT = 10  # of a manifest and its files
HARVESTS = "harvests"  # in `source`: mirror and generation of each harvested repository


@dataclass(frozen=True, slots=True)
class Manifest:
    """Description of a published version, stored in `manifest.json` with a checksum."""

    name: str
    version: int
    engine: EngineName
    analyzer: str
    decompound: Decompound
    unit: Unit
    papers: int
    passages: int
    published: str
    fingerprint: Fingerprint
    counts: dict[str, int] = field(default_factory=dict)
    dictionary: str = ""  # the hash of the user's dictionary
    glossary: dict[str, int] = field(default_factory=dict)  # numbers of pairs: corpus, user, general
    citations: dict[str, int] = field(default_factory=dict)  # references, matched, …
    vectors: dict[str, Any] | None = None  # fingerprint and number of vectors
    source: dict[str, Any] = field(default_factory=dict)  # paths and format of the last indexed corpus
    files: dict[str, FileSum] = field(default_factory=dict)
    shards: int = 1  # of its index in a cluster
    format: int = FORMAT

    @property
    def vector_fingerprint(self) -> VectorFingerprint | None:
        """The fingerprint of the vectors; None without vectors."""
        return VectorFingerprint(**self.vectors["fingerprint"]) if self.vectors else None

    @property
    def vector_count(self) -> int:
        """The number of passages with a vector."""
        return int(self.vectors["passages"]) if self.vectors else 0

    def with_vectors(self, fingerprint: VectorFingerprint, passages: int) -> Self:
        """Return the manifest with the fingerprint and number of vectors."""
        return replace(self, vectors={"fingerprint": fingerprint.as_record(), "passages": passages})

    def as_record(self) -> dict[str, Any]:
        """Return the stored record: all fields and their checksum."""
        record = asdict(self)
        return record | {SUM: sum_of(record)}

    @classmethod
    def from_record(cls, record: Any, index: str = "", version: int | None = None) -> Self:
        """Parse a record made by `as_record`, and check its version if one is given.

        Raises:
            IndexMismatch: the format is older or newer.
            IndexDamaged: the record is damaged, or belongs to another version.
        """
        place = f"index {index!r}" if version is None else f"index {index!r}, version {version}"
        stored = record.get("format") if isinstance(record, dict) else None
        if stored != FORMAT and isinstance(stored, int):
            raise IndexMismatch(
                f"index {index!r} has format {stored}; this version of shrag reads and writes {FORMAT}",
                remedy=Remedy.REBUILD,
                index=index,
            )
        if stored is None or record.pop(SUM, None) != sum_of(record):
            raise _damaged(place, "it is damaged", index)
        manifest = cls(
            **record | {"files": {name: FileSum(**file) for name, file in record["files"].items()}}
        )
        if version not in {None, manifest.version}:
            raise _damaged(place, f"it belongs to version {manifest.version}", index)
        return manifest

    def to_text(self) -> str:
        """Return the content of `manifest.json`."""
        return json.dumps(self.as_record(), ensure_ascii=False, indent=1) + "\n"

    def write(self, folder: Path) -> None:
        """Write `manifest.json` into `folder`."""
        write_durably(folder / MANIFEST, self.to_text())

    @classmethod
    def read(cls, folder: Path, index: str = "", version: int | None = None) -> Self:
        """Read `manifest.json` in `folder`; raises as `from_record`."""
        try:
            record = json.loads((folder / MANIFEST).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise _damaged(str(folder), error, index) from error
        return cls.from_record(record, index, version)


def harvests_in(base: Manifest | None, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the part of `source` with the harvested state of repositories, from a base and a build."""
    harvests = {**(base.source.get(HARVESTS, {}) if base else {}), **(more or {})}
    return {HARVESTS: harvests} if harvests else {}


def _damaged(place: str, reason: object, index: str) -> IndexDamaged:
    return IndexDamaged(
        f"the manifest of {place} cannot be read ({reason})",
        remedy=(Remedy.REBUILD, Remedy.ROLL_BACK),
        index=index,
    )


def lexical_fingerprint(
    analyzer: str,
    decompound: Decompound,
    engine: EngineName = "tantivy",
    dictionary: UserDictionary | None = None,
) -> Fingerprint:
    """Return the dependencies of an index's tokens and fields, by name.

    A patch version of tantivy changes no file of an index; the minor version may.
    """
    return {
        "schema": str(SCHEMA_VERSIONS[engine]),
        "chunking": str(CHUNKING_VERSION),
        "analysis": str(ANALYSIS_VERSION),
        "analyzer": analyzer,
        "decompound": decompound,
        **({"dictionary": dictionary.hash} if dictionary else {}),
        **({"tantivy": ".".join(installed("tantivy").split(".")[:2])} if engine == "tantivy" else {}),
        "python-mecab-ko-dic": installed("python-mecab-ko-dic"),
    }


def check_analysis(manifest: Manifest, dictionary: UserDictionary | None) -> None:
    """Raise IndexMismatch if a version was built with another analysis, schema or library version."""
    stored = manifest.fingerprint
    current = lexical_fingerprint(manifest.analyzer, manifest.decompound, manifest.engine, dictionary)
    changed = [
        f"{name}: {stored.get(name, 'none')}, now {current.get(name, 'none')}"
        for name in sorted(stored.keys() | current.keys())
        if stored.get(name) != current.get(name)
    ]
    if changed:
        raise IndexMismatch(
            f"index {manifest.name!r} was built with other settings or versions ({'; '.join(changed)})",
            remedy=(Remedy.UPGRADE, Remedy.REBUILD),
            index=manifest.name,
        )
