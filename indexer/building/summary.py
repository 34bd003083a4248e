"""Files and counts that complete a version: glossary, citation graph, lexicon, manifest."""

from array import array
from collections.abc import Container
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from base.progress import Progress
from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.citation_graph.gathering import Gathered
from indexer.citation_graph.writing import write_citations
from indexer.files.schema import StoredPassage
from indexer.forward.lexicon import TokenCounts, write_lexicon
from indexer.glossary.given import GivenPairs
from indexer.glossary.mined import Evidence, Mentions, find_mentions, texts_of
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import write_glossary
from indexer.versions.manifest import Manifest
from indexer.versions.store.build_folder import CITATIONS, GLOSSARY, LEXICON
from indexer.versions.writers import Writer


class CorpusSummary:
    """The summary of a version's passages: glossary, references, token counts and number of papers."""

    def __init__(
        self, analyzer: str, decompound: Decompound, dictionary: UserDictionary | None = None
    ) -> None:
        """Create a summary without passages, with the analysis of the index."""
        self._analyzer = make_analyzer(analyzer, decompound, dictionary)
        self._papers = array("q")
        self.terms = Evidence()
        self.references = Gathered()
        self.tokens = TokenCounts()

    def add(self, passage: StoredPassage, row: bytes, mentions: Mentions | None = None) -> None:
        """Add a passage with its row, in corpus order; `mentions` if already found."""
        self.terms.add(passage, mentions or find_mentions(texts_of(passage), self._analyzer))
        self.references.add(passage, passage.paper)
        self.tokens.add(row)
        self._papers.append(hash(passage.doc_id))  # MIRACL's passages count by article

    @property
    def papers(self) -> int:
        """The number of papers of the passages."""
        return len(np.unique(np.frombuffer(self._papers, np.int64))) if self._papers else 0

    def write_glossary(self, path: Path, own: list[Pair], general: list[Pair]) -> int:
        """Write the given pairs, and the pairs, abbreviations and words of the passages.

        Returns the number of mined pairs.
        """
        mined = self.terms.choose_pairs(self._analyzer)
        forms = self.terms.choose_abbreviations(self._analyzer)
        words = self.terms.choose_words(self._analyzer)
        write_glossary(path, [*own, *mined, *general], forms, words)
        return len(mined)


def publishing_time() -> str:
    """Return the current time in the format of a manifest."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def complete_manifest(
    building: Path,
    draft: Manifest,
    writer: Writer,
    progress: Progress,
    dictionary: UserDictionary | None,
    given: GivenPairs,
    summary: CorpusSummary | None = None,
) -> Manifest:
    """Write glossary, citation graph and lexicon, and return the manifest with all counts.

    Without a summary, all passages are read.
    """
    chain = draft.analyzer, draft.decompound, dictionary
    total = writer.passage_count
    progress("glossary", 0, total)
    if summary is None:
        summary = CorpusSummary(*chain)
        for done, passage in enumerate(writer.stored(), 1):
            progress("glossary", done, total)
            summary.add(passage, passage.row)
    own, general = given.pairs(*chain)
    terms = set(writer.terms)
    general = [pair for pair in general if _is_useful(pair, terms)]
    mined = summary.write_glossary(building / GLOSSARY, own, general)
    citations = write_citations(building / CITATIONS, summary.references)
    write_lexicon(building / LEXICON, writer.terms, summary.tokens)
    progress("publishing", 0, 0)
    sizes = {
        "corpus": mined,
        "user": len({(pair.korean, pair.english) for pair in own}),
        "general": len(general),
    }
    return replace(
        draft,
        papers=summary.papers,
        passages=total,
        published=publishing_time(),
        glossary=sizes,
        citations=citations,
    )


def _is_useful(pair: Pair, terms: Container[str]) -> bool:
    """Check whether the terms of an index contain the translation of either side."""
    sides = {"en": pair.english_tokens, "ko": pair.korean_tokens}
    return any(
        pair.target in {None, language} and all(token in terms for token in tokens)
        for language, tokens in sides.items()
    )
