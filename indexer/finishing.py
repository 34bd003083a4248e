"""What makes a written index a version: its glossary, its counts, its manifest."""

from array import array
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from indexer.analysis import UserDictionary, make_analyzer
from indexer.glossary import mine_glossary, write_glossary
from indexer.requests import Progress
from indexer.schema import StoredPassage
from indexer.versions import GLOSSARY, Manifest
from indexer.writers import Writer


def finish(
    building: Path, draft: Manifest, writer: Writer, progress: Progress, dictionary: UserDictionary | None
) -> Manifest:
    """Mine the glossary of what is committed, count papers and passages, and write the manifest."""
    papers = array("q")
    total = writer.passage_count
    passages = _noting(writer.stored(), papers, total, progress)
    pairs = mine_glossary(passages, make_analyzer(draft.analyzer, draft.decompound, dictionary))
    write_glossary(building / GLOSSARY, pairs)
    manifest = replace(
        draft,
        papers=len(np.unique(np.frombuffer(papers, np.int64))) if papers else 0,
        passages=total,
        published=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    progress("publishing", 0, 0)
    manifest.write(building)
    return manifest


def _noting(
    passages: Iterator[StoredPassage], papers: "array[int]", total: int, progress: Progress
) -> Iterator[StoredPassage]:
    """Pass passages on, and note the paper of each: MIRACL's passages count by their article."""
    for done, passage in enumerate(passages):
        progress("glossary", done, total)
        papers.append(hash(passage.doc_id))
        yield passage
