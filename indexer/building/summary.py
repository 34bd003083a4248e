"""The summary of a version's passages, and the files made of it: glossary, citation graph, lexicon, manifest.

All parts of a summary add up, the evidence of terms up to a million of a kind. So an update reads the summary
of its base, and adds and subtracts the changed passages. The file is a NumPy archive (.npz) of the columns of
`Gathered`, the token counts by term number, and the packed `Evidence`.
"""

from collections.abc import Container, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from base.progress import Progress
from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.citation_graph.gathering import Gathered, record_key
from indexer.citation_graph.graph import write_citations
from indexer.files.damage import map_damage_errors
from indexer.files.schema import StoredPassage
from indexer.forward.lexicon import TokenCounts, lexicon_bytes
from indexer.glossary.given import GivenPairs
from indexer.glossary.mined import Evidence, Mentions, find_mentions
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import write_glossary
from indexer.versions.manifest import Manifest
from indexer.versions.store.build_folder import CITATIONS, GLOSSARY, LEXICON, SUMMARY
from indexer.versions.writers import Writer


class CorpusSummary:
    """The summary of a version's passages: terms, references, token counts and number of papers."""

    def __init__(
        self,
        analyzer: str,
        decompound: Decompound,
        dictionary: UserDictionary | None = None,
        base: Path | None = None,
    ) -> None:
        """Start with the summary of a base version, or without passages, with the analysis of the index."""
        self._analysis = analyzer, decompound, dictionary
        self._analyzer = make_analyzer(*self._analysis)
        self._terms, self._tokens, self._added = Evidence(), TokenCounts(), Gathered()
        self._base: dict[str, np.ndarray] = {}
        self._removed: set[int] = set()
        if base:
            with map_damage_errors(base), np.load(base) as archive:
                self._base = dict(archive)
                self._terms = Evidence.unpacked(self._base.pop("evidence").tobytes())
                passages, tokens = self._base.pop("totals").tolist()
                columns = self._base.pop("frequency"), self._base.pop("named")
                self._tokens = TokenCounts(passages, tokens, columns)

    def add(self, passage: StoredPassage, row: bytes, mentions: Mentions | None = None) -> None:
        """Add a passage with its row; `mentions` if already found."""
        self._terms.add(passage, mentions or find_mentions(passage, self._analyzer))
        self._added.add(passage)
        self._tokens.add(row)

    def remove(self, passages: Iterable[StoredPassage]) -> None:
        """Subtract passages of the base version, which have their rows."""
        for passage in passages:
            self._terms.remove(passage, find_mentions(passage, self._analyzer))
            self._tokens.add(passage.row, -1)
            if passage.record:
                self._removed.add(record_key(passage))

    def complete(
        self, folder: Path, draft: Manifest, writer: Writer, given: GivenPairs, progress: Progress
    ) -> Manifest:
        """Write glossary, citation graph, lexicon and summary; return the manifest with all counts."""
        total, terms = writer.passage_count, writer.terms
        progress("glossary", 0, total)
        own, general = given.pairs(*self._analysis)
        frequency, named = self._tokens.columns(len(terms))
        used = {term for term, count in zip(terms, frequency[1:].tolist(), strict=True) if count}
        useful = [pair for pair in general if _is_useful(pair, used)]
        mined = self._terms.choose_pairs(self._analyzer)
        forms = self._terms.choose_abbreviations(self._analyzer)
        words = self._terms.choose_words(self._analyzer)
        write_glossary(folder / GLOSSARY, [*own, *mined, *useful], forms, words)
        references = Gathered()
        if self._base:
            references.extend(self._base, self._removed)
            self._base = {}
        references.extend(self._added.packed())
        citations = write_citations(folder / CITATIONS, references)
        (folder / LEXICON).write_bytes(lexicon_bytes(terms, self._tokens))
        arrays = references.packed() | {
            "frequency": frequency.astype(np.int32),
            "named": named.astype(np.int32),
            "totals": np.array([self._tokens.passages, self._tokens.tokens]),
            "evidence": np.frombuffer(self._terms.packed(), np.uint8),
        }
        with (folder / SUMMARY).open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # its other keyword is allow_pickle
        progress("publishing", 0, 0)
        users = {(pair.korean, pair.english) for pair in own}
        return replace(
            draft,
            papers=len(np.unique(arrays["hashes"])),  # MIRACL's passages count by article
            passages=total,
            published=datetime.now(UTC).isoformat(timespec="seconds"),
            glossary={"corpus": len(mined), "user": len(users), "general": len(useful)},
            citations=citations,
        )


def _is_useful(pair: Pair, terms: Container[str]) -> bool:
    """Check whether the terms of an index contain the translation of either side."""
    sides = {"en": pair.english_tokens, "ko": pair.korean_tokens}
    return any(
        pair.target in {None, language} and all(token in terms for token in tokens)
        for language, tokens in sides.items()
    )
