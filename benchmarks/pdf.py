"""How fast PDFs are read, and how much of them comes back.

    python -m benchmarks.pdf [--papers N] [--workers N] [--only KIND] [--json]

The papers are those of `benchmarks/generated_pdfs.py`. The processes that read are started before time is taken.
"""

import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rapidfuzz.distance import LCSseq

from benchmarks.figures import Figure, machine, report, strict_option
from benchmarks.generated_pdfs import Typeset, generated_pdfs
from indexer.cleaning import clean_body
from indexer.options import json_option
from indexer.papers import Paper
from indexer.readers import read_corpus


@dataclass(frozen=True, slots=True)
class Quality:
    """Shares of what was set: characters in order, words as they were parted, references by title and year."""

    characters: float
    words: float
    references: float


def letters_of(paper: Typeset) -> str:
    """Return the characters of a paper without white space."""
    return _solid(paper.title + paper.abstract + paper.body)


def body_of(record: Paper) -> str:
    """Return the characters that were read, without white space, marks of headings and the reference list."""
    return _solid(record.title + record.abstract + _cleaned(record))


def _cleaned(record: Paper) -> str:
    return re.sub(r"^#+ ", "", clean_body(record.body), flags=re.MULTILINE)


def _solid(text: str) -> str:
    return "".join(text.split())


def measure(pairs: Sequence[tuple[Typeset, Paper]]) -> Quality:
    """Compare papers with what was read of them."""
    characters = words = references = 0.0
    for paper, record in pairs:
        want = letters_of(paper)
        characters += LCSseq.similarity(want, body_of(record)) / len(want)
        parts = paper.body.split()
        words += LCSseq.similarity(parts, _cleaned(record).split()) / len(parts)
        listed = (record.model_extra or {}).get("reference_list", [])
        found = {(_solid(entry.get("title", "")), entry.get("year")) for entry in listed}
        known = [(_solid(reference["title"]), reference["year"]) for reference in paper.references]
        references += sum(reference in found for reference in known) / len(known)
    return Quality(characters / len(pairs), words / len(pairs), references / len(pairs))
