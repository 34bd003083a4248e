"""What a published version says of itself, and whether it can be read with today's analysis."""

import json
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from base.errors import Remedy
from base.files.durable import write_durably
from indexer.analysis import Decompound, UserDictionary
from indexer.corpora.papers import Unit
from indexer.encoders import VectorFingerprint
from indexer.errors import IndexDamaged, IndexMismatch
from indexer.files.sums import SUM, FileSum, sum_of
from indexer.settings import EngineName
from indexer.versions.fingerprint import Fingerprint, differences, forget_fingerprints, lexical_fingerprint

MANIFEST = "manifest.json"
# Of a manifest and the files that it lists. 1 had no number, and no sums of files; 2 no sums of stored
# passages; 3 only mined pairs in its glossary; 4 no forward index; 5 the tokens of its glossary as text.
FORMAT = 6
MOST_BYTES = 64_000_000  # of a manifest that are read; none that a build wrote has as many


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a published version says of itself; `manifest.json` holds it, with a sum over all that it says."""

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
    glossary: dict[str, int] = field(default_factory=dict)  # how many pairs are of the corpus, user, general
    citations: dict[str, int] = field(default_factory=dict)  # references, matched …; none without a graph
    vectors: dict[str, Any] | None = None  # the fingerprint of the set, and how many passages have one
    source: dict[str, Any] = field(default_factory=dict)  # paths and format of what was indexed last
    files: dict[str, FileSum] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def vector_fingerprint(self) -> VectorFingerprint | None:
        """What the vectors depend on; None where the version has none."""
        return VectorFingerprint(**self.vectors["fingerprint"]) if self.vectors else None

    @property
    def vector_count(self) -> int:
        """How many passages have a vector."""
        return int(self.vectors["passages"]) if self.vectors else 0

    def with_vectors(self, fingerprint: VectorFingerprint, passages: int) -> Self:
        """Return the manifest of the version when so many passages have vectors."""
        return replace(self, vectors={"fingerprint": fingerprint.as_record(), "passages": passages})

    def as_record(self) -> dict[str, Any]:
        """Return what is stored: all fields, and their sum."""
        record = asdict(self)
        if not self.citations:  # as versions without a citation graph were written
            del record["citations"]
        return record | {SUM: sum_of(record)}

    @classmethod
    def from_record(cls, record: Any, index: str = "", version: int | None = None) -> Self:
        """Read what `as_record` made, of this version if one is named.

        Raises:
            IndexMismatch: it is of an older or newer format.
            IndexDamaged: it is not what was written, or of another version.
        """
        place = f"index {index!r}" if version is None else f"index {index!r}, version {version}"
        if not isinstance(record, dict):
            raise _damaged(place, "it is no JSON object", index)
        stored = record.get("format", 1 if "name" in record else None)
        if stored != FORMAT and isinstance(stored, int):
            raise IndexMismatch(
                f"index {index!r} is of format {stored}, this version of shrag reads and writes {FORMAT}",
                remedy=Remedy.REBUILD,
                index=index,
            )
        fields = {name: value for name, value in record.items() if name != SUM}
        try:
            is_written = record.get(SUM) == sum_of(fields)
            manifest: Self = _checker(Manifest).validate_json(json.dumps(fields))
            if manifest.vectors:
                _checker(VectorFingerprint).validate_json(json.dumps(manifest.vectors["fingerprint"]))
                _ = manifest.vector_count
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise _damaged(place, _reason(error), index) from error
        if not is_written:
            raise _damaged(place, "it is not what was written", index)
        if version not in {None, manifest.version}:
            raise _damaged(place, f"it is that of version {manifest.version}", index)
        if any(".." in Path(name).parts or Path(name).is_absolute() for name in manifest.files):
            raise _damaged(place, "it names files that lie elsewhere", index)
        return manifest

    def to_text(self) -> str:
        """Return the content of `manifest.json`."""
        return json.dumps(self.as_record(), ensure_ascii=False, indent=1) + "\n"

    def write(self, folder: Path) -> None:
        """Write `manifest.json` into `folder`."""
        write_durably(folder / MANIFEST, self.to_text())

    @classmethod
    def read(cls, folder: Path, index: str = "", version: int | None = None) -> Self:
        """Read `manifest.json` of `folder`; raises as `from_record`."""
        path = folder / MANIFEST
        try:
            record = json.loads(_first_bytes(path))
        except (OSError, ValueError, RecursionError) as error:
            raise _damaged(str(folder), error, index) from error
        return cls.from_record(record, index, version)


def _first_bytes(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise ValueError("it is no file")
    with path.open("rb") as file:
        return file.read(MOST_BYTES)


@cache
def _checker(kind: type) -> Any:
    """Return what tells whether a record has the fields of a class, each of its type."""
    from pydantic import ConfigDict, TypeAdapter, with_config

    return TypeAdapter(with_config(ConfigDict(strict=True, extra="forbid"))(kind))


def _reason(error: Exception) -> str:
    """Return what is wrong on one line; of several fields, the first."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


def _damaged(place: str, reason: object, index: str) -> IndexDamaged:
    return IndexDamaged(
        f"the manifest of {place} cannot be read ({reason})",
        remedy=(Remedy.REBUILD, Remedy.ROLL_BACK),
        index=index,
    )


def check_analysis(manifest: Manifest, dictionary: UserDictionary | None, home: Path | None = None) -> None:
    """Raise IndexMismatch where a version was built by another analysis, schema or library version.

    With `home` the tokens that today's analysis makes of fixed texts are remembered there.
    """
    chain = manifest.analyzer, manifest.decompound, manifest.engine, dictionary
    changed = differences(manifest.fingerprint, lexical_fingerprint(*chain, home))
    if changed and home:  # what is kept there may be broken
        changed = differences(manifest.fingerprint, lexical_fingerprint(*chain))
        forget_fingerprints(home)
    if changed:
        raise IndexMismatch(
            f"index {manifest.name!r} was built otherwise ({'; '.join(changed)})",
            remedy=Remedy.REBUILD,
            index=manifest.name,
        )
