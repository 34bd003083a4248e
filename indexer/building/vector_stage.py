"""The encoding stage of a build."""

from dataclasses import dataclass, replace

from base.errors import InvalidCall, Remedy
from base.progress import Progress
from indexer.encoders import Encoder, VectorFingerprint
from indexer.vectors.spool import VectorSpool, encode_missing
from indexer.versions.manifest import Manifest
from indexer.versions.store import LOCAL_ENGINES, IndexStore
from indexer.versions.writers import Writer


@dataclass(frozen=True, slots=True)
class VectorStage:
    """Encodes the passages of a build, or keeps the vectors of the base version."""

    store: IndexStore
    encoder: Encoder | None
    base: Manifest | None
    progress: Progress
    spooled: VectorFingerprint | None = None  # of vectors that are in the spool, and need no encoder

    def check(self, *, reencode: bool = False) -> None:
        """Raise InvalidCall if the configured encoder differs from the base version's.

        With `reencode` all passages are encoded again, unless the engine cannot replace vectors.
        """
        built = self.base.vector_fingerprint if self.base else None
        if self.encoder is None or built is None or built == self.encoder.fingerprint:
            return
        replaceable = self.store.engine in LOCAL_ENGINES
        if reencode and replaceable:
            return
        now = self.encoder.fingerprint
        changed = ", ".join(
            f"{name}: {value!r}, now {now.as_record()[name]!r}"
            for name, value in built.as_record().items()
            if value != now.as_record()[name]
        )
        remedy: tuple[Remedy | str, ...] = ("set SHRAG_ENCODER__… back", Remedy.REBUILD)
        raise InvalidCall(
            f"index {self.store.name!r} has vectors of another encoder ({changed})",
            remedy=(*remedy, Remedy.ENCODE_AGAIN) if replaceable else remedy,
            index=self.store.name,
        )

    @property
    def held_count(self) -> int:
        """The number of passages of the base version with a vector of the configured encoder."""
        is_same = self.base and self.encoder and self.base.vector_fingerprint == self.encoder.fingerprint
        return self.base.vector_count if self.base and is_same else 0

    @property
    def has_missing(self) -> bool:
        """Whether passages of the base version have no vector of the configured encoder."""
        return self.encoder is not None and self.base is not None and self.held_count < self.base.passages

    def run(self, draft: Manifest, writer: Writer) -> Manifest:
        """Encode the passages without a vector, and store their vectors; return the updated manifest.

        Without an encoder, passages of the base version keep their vectors, and new passages have none.
        """
        built = self.base.vector_fingerprint if self.base else None
        wanted = self.encoder.fingerprint if self.encoder else self.spooled or built
        if wanted is None:
            return replace(draft, vectors=None)
        missing = writer.start_vectors(wanted, keep=built == wanted)
        if self.encoder or self.spooled:
            total = writer.passage_count
            with VectorSpool(self.store.local.encoded, wanted) as spool:
                encode_missing(missing, spool, self.encoder, writer.put_vectors, self.progress, total)
        return draft.with_vectors(wanted, writer.finish_vectors())
