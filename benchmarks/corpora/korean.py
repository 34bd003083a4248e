"""Korean texts for analysis and indexing: shared Wikipedia passages, or the sample's abstracts."""

import gzip
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from base.sample import SAMPLE_PAPERS
from benchmarks.corpora.generated import write_lines

DATA = Path("../shared/data")
CORPUS = "tydi-goldp/miracl-corpus-v1.0-ko"
ENOUGH = 1_500


class Passage(NamedTuple):
    """A passage in MIRACL's format."""

    docid: str
    title: str
    text: str


def korean_passages(data: Path) -> list[Passage]:
    """Read the shared passages; without them, repeat the sample's abstracts to a similar number."""
    passages: list[Passage] = []
    for file in sorted((data / CORPUS).glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            records = map(json.loads, lines)
            passages += [Passage(record["docid"], record["title"], record["text"]) for record in records]
    if passages:
        return passages
    sample = map(json.loads, SAMPLE_PAPERS.read_text(encoding="utf-8").splitlines())
    papers = [record for record in sample if record["lang"] == "ko" and record.get("abstract")]
    return [
        Passage(f"{paper['id']}#{copy}", paper["title"], paper["abstract"])
        for copy in range(-(-ENOUGH // len(papers)))
        for paper in papers
    ]


def texts_of(passages: Sequence[Passage]) -> list[str]:
    """Return the texts in the form of analysis: composed, title first."""
    return [unicodedata.normalize("NFC", f"{passage.title} {passage.text}") for passage in passages]


def write_copies(path: Path, passages: Sequence[Passage], copies: int) -> Path:
    """Write several copies of the passages in MIRACL's format, with prefixes in the copies' ids."""
    return write_lines(
        path,
        (
            passage._asdict() | ({"docid": f"{copy}-{passage.docid}"} if copy else {})
            for copy in range(copies)
            for passage in passages
        ),
    )
