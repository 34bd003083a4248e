"""Models and the general glossary of indexes over sources.

Passages are encoded for a question (SHRAG, eq. 4), and the vectors of the last ones are kept for later ones.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from base.errors import ResourceError
from base.files.base_directories import base_directory
from base.untrusted import one_line
from indexer.encoders import Encoder, Stored, VectorFingerprint
from indexer.encoders.rounding import to_storage
from indexer.errors import IndexNotWritten
from indexer.files.schema import StoredPassage
from indexer.files.sums import sum_of
from indexer.glossary.given import GENERAL, GivenPairs
from indexer.glossary.storage import SCHEMA as GLOSSARY_SCHEMA
from indexer.glossary.storage import write_glossary
from indexer.settings import IndexerSettings
from indexer.vectors.adding import row_of, text_to_encode
from indexer.versions.fingerprint import lexical_fingerprint
from retriever.opening.models import Models, QuestionVectors, TextEncoder
from retriever.sources import ANALYZER, DECOMPOUND

MOST_VECTORS = 20_000  # that are kept, 80 MB of 1,024 numbers


def general_glossary(otherwise: Path) -> Path:
    """Return the file of the general glossary for the analysis of sources, building it if it is missing.

    It is kept in the user's cache folder. If that is not writable, it is built in the folder `otherwise`.
    """
    terms = hashlib.sha256(GENERAL.read_bytes()).hexdigest()
    schema = hashlib.sha256(GLOSSARY_SCHEMA.encode()).hexdigest()
    made_of = sum_of({**lexical_fingerprint(ANALYZER, DECOMPOUND), "terms": terms, "schema": schema})
    name = f"general-glossary-{made_of[:16]}.sqlite"
    with suppress(OSError, ValueError, IndexNotWritten):
        folder = base_directory("XDG_CACHE_HOME", "~/.cache") / "shrag"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / name).exists():  # it is written as a whole
            write_glossary(folder / name, GivenPairs().pairs(ANALYZER, DECOMPOUND, None)[1])
        return folder / name
    write_glossary(otherwise / name, GivenPairs().pairs(ANALYZER, DECOMPOUND, None)[1])
    return otherwise / name


class PassageVectors:
    """Vectors of the passages of sources, comparable with question vectors."""

    def __init__(
        self, fingerprint: VectorFingerprint, encoder: TextEncoder, questions: QuestionVectors
    ) -> None:
        """Take the encoder, which the caller closes, its fingerprint, and the vectors of questions."""
        self.fingerprint, self.questions = fingerprint, questions
        self._encoder = encoder
        self._known: dict[bytes, Stored] = {}  # by the hash of the text

    async def of(self, passages: Sequence[StoredPassage]) -> tuple[Mapping[bytes, Stored], str]:
        """Return vectors by the hash of the passage's text, and the reason if some are missing, else ""."""
        texts = {row_of(passage).text_hash: text for passage in passages if (text := text_to_encode(passage))}
        known = {name: self._known[name] for name in texts if name in self._known}
        missing = {name: text for name, text in texts.items() if name not in known}
        if not missing:
            return known, ""

        def encode(encoder: Encoder) -> dict[bytes, Stored] | ResourceError:
            try:
                encoded = encoder.encode_passages(list(missing.values()))
            except ResourceError as error:  # questions can still be encoded
                return error
            return dict(zip(missing, to_storage(encoded, self.fingerprint.storage), strict=True))

        try:
            new = await self._encoder.run(encode) or {}
        except ResourceError as error:
            new = error
        if isinstance(new, ResourceError):
            return known, f"passages were not encoded: {one_line(str(new))}"
        kept = {} if len(self._known) + len(new) > MOST_VECTORS else self._known
        self._known = {**kept, **new}
        return known | new, ""


class SharedModels(Models):
    """Resources shared by indexes over sources: the models of the settings, and synonyms."""

    def __init__(self, settings: IndexerSettings, synonyms: Path | None = None) -> None:
        """Take the settings; nothing is opened yet."""
        super().__init__(settings)
        self.synonyms = synonyms
        self._passages: PassageVectors | None = None

    async def passages(self) -> tuple[PassageVectors | None, str]:
        """Return the vectors of passages, and the reason if a configured encoder cannot be used."""
        if self._passages is None and self.encoder.configured:
            try:
                fingerprint = await self.encoder.run(lambda encoder: encoder.fingerprint)
            except ResourceError as error:
                return None, f"passages get no vectors: {one_line(str(error))}"
            if fingerprint:
                self._passages = PassageVectors(fingerprint, self.encoder, self.vectors(fingerprint))
        return self._passages, ""
