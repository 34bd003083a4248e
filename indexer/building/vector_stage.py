"""The encoding stage of a build."""

from contextlib import ExitStack
from dataclasses import dataclass, replace

from base.errors import InvalidCall, Remedy
from base.progress import Progress
from indexer.encoders import Encoder
from indexer.errors import IndexDamaged
from indexer.vectors.adding import encode_missing
from indexer.vectors.store import VectorStore
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
    def has_missing(self) -> bool:
        """Whether passages of the base version have no vector of the configured encoder."""
        if self.encoder is None or self.base is None:
            return False
        is_same = self.base.vector_fingerprint == self.encoder.fingerprint
        return not is_same or self.base.vector_count < self.base.passages

    def run(self, draft: Manifest, writer: Writer) -> Manifest:
        """Encode passages without a vector, and store all vectors; return the updated manifest.

        Without an encoder, passages of the base version keep their vectors, and new passages have none.
        """
        built = self.base.vector_fingerprint if self.base else None
        with ExitStack() as opened:
            sources: list[VectorStore] = []
            if self.encoder:
                spool = VectorStore.writing(self.store.local.encoded, self.encoder.fingerprint)
                sources.append(opened.enter_context(spool))
            wanted = self.encoder.fingerprint if self.encoder else built
            if wanted is None:
                return replace(draft, vectors=None)
            if self.base and built == wanted and (kept := self._vectors_of(self.base)):
                sources.append(opened.enter_context(kept))
            if self.encoder:
                missing = writer.without_vector(wanted)
                encode_missing(
                    missing, sources[0], self.encoder, sources[1:], self.progress, writer.passage_count
                )
            return draft.with_vectors(wanted, writer.place_vectors(sources))

    def _vectors_of(self, base: Manifest) -> VectorStore | None:
        """Open the vectors of the base version, which cannot be pruned while the index is locked."""
        try:
            return self.store.vectors(base)
        except FileNotFoundError as error:
            raise IndexDamaged(
                f"the vectors of index {base.name!r}, version {base.version} are missing",
                remedy=Remedy.REBUILD,
                index=base.name,
            ) from error
