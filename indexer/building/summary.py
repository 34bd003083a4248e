"""What makes a written index a version: its glossary, its citation graph, its counts, its manifest."""

from array import array
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.citation_graph.gathering import Gathered
from indexer.citation_graph.writing import write_citations
from indexer.glossary.brackets import PassageMentions, passage_mentions
from indexer.glossary.forms import FormMiner, Forms
from indexer.glossary.given import GivenPairs
from indexer.glossary.mining import GlossaryMiner, texts_of
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import write_glossary
from indexer.manifest import Manifest
from indexer.requests import Progress
from indexer.schema import StoredPassage
from indexer.store.build_folder import CITATIONS, GLOSSARY
from indexer.writers import Writer


class CorpusSummary:
    """What is gathered from a version's passages: glossary, references, and how many papers there are."""

    def __init__(
        self, analyzer: str, decompound: Decompound, dictionary: UserDictionary | None = None
    ) -> None:
        """Begin with no passage; the analysis is the index's."""
        self._analyzer = make_analyzer(analyzer, decompound, dictionary)
        self._miner, self._forms = GlossaryMiner(self._analyzer), FormMiner(self._analyzer)
        self._papers = array("q")
        self.references = Gathered()

    def add(self, passage: StoredPassage, mentions: PassageMentions | None = None) -> None:
        """Add a passage, in corpus order; `mentions` where they have been found already."""
        mentions = mentions or passage_mentions(texts_of(passage), self._analyzer)
        paper = passage.paper
        self._miner.add(passage, mentions, paper)
        self._forms.add(passage, mentions)
        self.references.add(passage, paper)
        self._papers.append(hash(passage.doc_id))  # MIRACL's passages count by their article

    @property
    def papers(self) -> int:
        """How many papers the passages are of."""
        return len(np.unique(np.frombuffer(self._papers, np.int64))) if self._papers else 0

    def pairs(self) -> list[Pair]:
        """Return the pairs that were mined."""
        return self._miner.pairs()

    def forms(self) -> Forms:
        """Return the abbreviations and the words of the passages."""
        return self._forms.forms()


def publishing_time() -> str:
    """Return the time as a manifest says it."""
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
    """Write glossary and citation graph, and return the manifest with all counts.

    Without a summary all passages are read.
    """
    chain = draft.analyzer, draft.decompound, dictionary
    total = writer.passage_count
    progress("glossary", 0, total)
    if summary is None:
        summary = CorpusSummary(*chain)
        for done, passage in enumerate(writer.stored(), 1):
            progress("glossary", done, total)
            summary.add(passage)
    mined, (own, general) = summary.pairs(), given.pairs(*chain)
    write_glossary(building / GLOSSARY, [*own, *mined, *general], summary.forms())
    citations = write_citations(building / CITATIONS, summary.references)
    progress("publishing", 0, 0)
    sizes = {
        "corpus": len(mined),
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
