"""How fast PDFs are read, and how much of them comes back.

    python -m benchmarks.pdf [--papers N] [--workers N] [--json]

The papers are those of `benchmarks/corpora/pdfs.py`. The time is that of reading them, with the start of
the processes that do.
"""

import re
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rapidfuzz.distance import LCSseq

from benchmarks.corpora.pdfs import Typeset, generated_pdfs
from benchmarks.figures import Figure, machine, report, strict_option
from indexer.corpora.cleaning import clean_body
from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from indexer.options import json_option


@dataclass(frozen=True, slots=True)
class Quality:
    """Shares of what was set: characters in order, words as they were, references by title and year."""

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
        known = [
            (_solid(reference["title"].rstrip(".")), reference["year"]) for reference in paper.references
        ]
        references += sum(reference in found for reference in known) / len(known)
    return Quality(characters / len(pairs), words / len(pairs), references / len(pairs))


SPEED_BAR, CHARACTERS_BAR, REFERENCES_BAR = 5.0, 0.98, 0.9


@click.command()
@click.option("--papers", "count", type=click.IntRange(1), default=200, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@strict_option
@json_option
def main(count: int, workers: int, *, strict: bool, as_json: bool) -> None:
    """Read generated PDFs, each figure beside its bar."""
    papers = sorted(generated_pdfs(count), key=lambda paper: paper.name)
    with tempfile.TemporaryDirectory(prefix="shrag-pdf-") as folder:
        for paper in papers:
            (Path(folder) / paper.name).write_bytes(paper.data)
        started = time.perf_counter()
        records = [item for item in read_corpus([folder], workers=workers) if isinstance(item, Paper)]
        seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    pairs = list(zip(papers, records, strict=True))
    megabytes = sum(len(paper.data) for paper in papers) / 1e6
    figures = [
        Figure("speed", "PDFs a second", count / seconds, "/s", SPEED_BAR, higher_is_better=True),
        Figure("speed", "PDFs a second of computing", count / (used.ru_utime + used.ru_stime), "/s"),
        Figure("speed", "bytes", megabytes / seconds, "MB/s"),
    ]
    for kind in ("", "en 1", "en 2", "ko 1", "ko 2"):
        quality = measure([pair for pair in pairs if pair[0].kind.startswith(kind)])
        part = kind.replace(" 1", ", one column").replace(" 2", ", two columns") or "all"
        figures += [
            Figure(
                part, "characters in order", quality.characters, "", CHARACTERS_BAR, higher_is_better=True
            ),
            Figure(part, "words", quality.words),
            Figure(part, "references", quality.references, "", REFERENCES_BAR, higher_is_better=True),
        ]
    report(figures, machine(), as_json=as_json, strict=strict)


if __name__ == "__main__":
    main()
