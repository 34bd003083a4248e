"""What a published version says of itself, and whether it can be read with today's analysis."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from indexer.analysis import Decompound, UserDictionary
from indexer.durable import write_durably
from indexer.encoders import VectorFingerprint
from indexer.errors import IndexDamaged, IndexMismatch, Remedy
from indexer.fingerprint import Fingerprint, differences, forget_fingerprints, lexical_fingerprint
from indexer.papers import Unit
from indexer.settings import EngineName
from indexer.sums import FileSum

MANIFEST = "manifest.json"
FORMAT = 2  # of a manifest and what it lists; the first had no number, and no sums of files


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
        return record | {"sha256": _sum_of(record)}

    @classmethod
    def from_record(cls, record: Any, index: str = "") -> Self:
        """Read what `as_record` made.

        Raises:
            IndexMismatch: it is of an older or newer format.
            IndexDamaged: it is not what was written.
        """
        if not isinstance(record, dict):
            raise _damaged(f"index {index!r}", "it is no JSON object", index)
        stored = record.get("format", 1)
        if stored != FORMAT:
            raise IndexMismatch(
                f"index {index!r} is of format {stored}, this version of shrag reads and writes {FORMAT}",
                remedy=Remedy.REBUILD,
                index=index,
            )
        fields = {name: value for name, value in record.items() if name != "sha256"}
        if record.get("sha256") != _sum_of(fields):
            raise _damaged(f"index {index!r}", "it is not what was written", index)
        try:
            return cls(**fields)
        except TypeError as error:
            raise _damaged(f"index {index!r}", error, index) from error

    def to_text(self) -> str:
        """Return the content of `manifest.json`."""
        return json.dumps(self.as_record(), ensure_ascii=False, indent=1) + "\n"

    def write(self, folder: Path) -> None:
        """Write `manifest.json` into `folder`."""
        write_durably(folder / MANIFEST, self.to_text())

    @classmethod
    def read(cls, folder: Path, index: str = "") -> Self:
        """Read `manifest.json` of `folder`; raises as `from_record`."""
        try:
            record = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise _damaged(str(folder), error, index) from error
        return cls.from_record(record, index)


def _damaged(place: str, reason: object, index: str) -> IndexDamaged:
    return IndexDamaged(
        f"the manifest of {place} cannot be read ({reason})",
        remedy=(Remedy.REBUILD, Remedy.ROLL_BACK),
        index=index,
    )


def _sum_of(fields: dict[str, Any]) -> str:
    """Return a sum over what a manifest says, however it is laid out."""
    text = json.dumps(fields, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


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
