"""Korean texts to analyse and index: the shared Wikipedia passages, or else the sample's abstracts."""

import gzip
import json
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

CORPUS = "tydi-goldp/miracl-corpus-v1.0-ko"
SAMPLE = Path("sample/papers.jsonl")
ENOUGH = 1_500


class Passage(NamedTuple):
    """A passage as MIRACL's files have it."""

    docid: str
    title: str
    text: str


def korean_passages(data: Path) -> list[Passage]:
    """Read the shared passages; without them, the sample's abstracts over and over, about as many."""
    files = sorted((data / CORPUS).glob("*.jsonl.gz"))
    return [passage for file in files for passage in _shared(file)] or _sample()


def texts_of(passages: Sequence[Passage]) -> list[str]:
    """Return the texts as they are analysed: composed, the title first."""
    return [unicodedata.normalize("NFC", f"{passage.title} {passage.text}") for passage in passages]


def _shared(file: Path) -> Iterator[Passage]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            yield Passage(record["docid"], record["title"], record["text"])


def _sample() -> list[Passage]:
    with SAMPLE.open(encoding="utf-8") as lines:
        papers = [
            record for record in map(json.loads, lines) if record["lang"] == "ko" and record.get("abstract")
        ]
    copies = -(-ENOUGH // len(papers))
    return [
        Passage(f"{paper['id']}#{copy}", paper["title"], paper["abstract"])
        for copy in range(copies)
        for paper in papers
    ]
