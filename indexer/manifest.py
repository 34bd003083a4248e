"""What a published version says of itself, and whether it can be read with today's analysis."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from indexer.analysis import Decompound, UserDictionary
from indexer.durable import write_durably
from indexer.encoders import VectorFingerprint
from indexer.errors import IndexDamaged, IndexMismatch
from indexer.fingerprint import Fingerprint, differences, lexical_fingerprint
from indexer.papers import Unit
from indexer.settings import EngineName


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a published version says of itself; `manifest.json` holds it."""

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

    def write(self, folder: Path) -> None:
        """Write `manifest.json` into `folder`."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"
        write_durably(folder / "manifest.json", text)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read `manifest.json` of `folder`; IndexDamaged where it is missing or broken."""
        try:
            return cls(**json.loads((folder / "manifest.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise IndexDamaged(
                f"the manifest of {folder} cannot be read ({error}); "
                "build the index again (shrag index … --rebuild) or go back (shrag indexes rollback)"
            ) from error


def check_analysis(manifest: Manifest, dictionary: UserDictionary | None, home: Path | None = None) -> None:
    """Raise IndexMismatch where a version was built by another analysis, schema or library version.

    With `home` the tokens that today's analysis makes of fixed texts are remembered there.
    """
    now = lexical_fingerprint(manifest.analyzer, manifest.decompound, manifest.engine, dictionary, home)
    changed = differences(manifest.fingerprint, now)
    if changed:
        raise IndexMismatch(
            f"index {manifest.name!r} was built otherwise ({'; '.join(changed)}); "
            f"build it again: shrag index PATH --name {manifest.name} --rebuild"
        )
