"""The encoding stage of a build."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from base.errors import InvalidCall, Remedy
from base.progress import Progress
from base.windows import windows
from indexer.encoders import Encoder, VectorFingerprint, Vectors
from indexer.encoders.rounding import to_storage
from indexer.errors import EncoderUnusable
from indexer.files.schema import StoredPassage
from indexer.vectors.spool import VectorSpool, text_to_encode, vector_key
from indexer.versions.manifest import Manifest
from indexer.versions.store import LOCAL_ENGINES, IndexStore
from indexer.versions.writers import VectorKey, Writer

WINDOW = 1_024  # passages encoded between two commits, sorted by length


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
            with VectorSpool(self.store.local.encoded, wanted) as spool:
                self._encode(missing, spool, writer)
        return draft.with_vectors(wanted, writer.finish_vectors())

    def _encode(
        self, missing: Iterable[tuple[VectorKey, StoredPassage]], spool: VectorSpool, writer: Writer
    ) -> None:
        """Store the vectors of passages with a text; those that are not in the spool are encoded first.

        Raises:
            EncoderUnusable: the encoder failed; earlier vectors remain in the spool.
        """
        done, total = 0, writer.passage_count
        self.progress("encoding", 0, total)
        texts = ((key, passage, text_to_encode(passage)) for key, passage in missing)
        for window in windows((item for item in texts if item[2]), WINDOW):
            hashes = [vector_key(text) for *_, text in window]
            vectors = spool.read(hashes)
            new = {hashed: item for hashed, item in zip(hashes, window, strict=True) if hashed not in vectors}
            if self.encoder and new:
                passages = [passage for _, passage, _ in new.values()]
                encoded = self._encoded(self.encoder, passages, done, total)
                added = dict(zip(new, to_storage(encoded, self.encoder.fingerprint.storage), strict=True))
                spool.add(added)
                vectors |= added
            known = [
                (key, vectors[each])
                for each, (key, *_) in zip(hashes, window, strict=True)
                if each in vectors
            ]
            if known:
                writer.put_vectors([key for key, _ in known], np.stack([vector for _, vector in known]))
            done += len(window)
            self.progress("encoding", done, total)

    def _encoded(self, encoder: Encoder, passages: Sequence[StoredPassage], done: int, total: int) -> Vectors:
        try:
            return encoder.encode_passages(
                list(map(text_to_encode, passages)),
                lambda count: self.progress("encoding", done + count, total),
            )
        except EncoderUnusable as error:
            first, last = passages[0].passage_id, passages[-1].passage_id
            raise EncoderUnusable(
                f"{error} (while {len(passages):,} passages from {first!r} to {last!r} were encoded). "
                "The vectors encoded before are kept: fix the cause and repeat the command"
            ) from error
