"""What makes a written index a version: its glossary, its counts, its manifest."""

from array import array
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.glossary.brackets import PassageMentions
from indexer.glossary.mining import GlossaryMiner
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import write_glossary
from indexer.manifest import Manifest
from indexer.requests import Progress
from indexer.schema import StoredPassage
from indexer.versions import GLOSSARY
from indexer.writers import Writer


class Seen:
    """What a build knows of its passages at its end: the glossary's pairs, and how many papers there are."""

    def __init__(
        self, analyzer: str, decompound: Decompound, dictionary: UserDictionary | None = None
    ) -> None:
        """Begin with nothing seen."""
        self._miner = GlossaryMiner(make_analyzer(analyzer, decompound, dictionary))
        self._papers = array("q")

    def add(self, passage: StoredPassage, mentions: PassageMentions | None = None) -> None:
        """Note a passage, in corpus order; `mentions` where they have been found already."""
        self._miner.add(passage, mentions)
        self._papers.append(hash(passage.doc_id))  # MIRACL's passages count by their article

    @property
    def papers(self) -> int:
        """How many papers the passages are of."""
        return len(np.unique(np.frombuffer(self._papers, np.int64))) if self._papers else 0

    def pairs(self) -> list[Pair]:
        """Return the glossary's pairs."""
        return self._miner.pairs()


def now() -> str:
    """Return the time as a manifest tells it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def finish(
    building: Path,
    draft: Manifest,
    writer: Writer,
    progress: Progress,
    dictionary: UserDictionary | None,
    seen: Seen | None = None,
) -> Manifest:
    """Write the glossary and the manifest; what was not `seen` while it was written is read again."""
    total = writer.passage_count
    progress("glossary", 0, total)
    if seen is None:
        seen = Seen(draft.analyzer, draft.decompound, dictionary)
        for done, passage in enumerate(writer.stored(), 1):
            progress("glossary", done, total)
            seen.add(passage)
    write_glossary(building / GLOSSARY, seen.pairs())
    manifest = replace(
        draft,
        papers=seen.papers,
        passages=total,
        published=now(),
    )
    progress("publishing", 0, 0)
    manifest.write(building)
    return manifest
