"""Generated records of papers: sentences of the sample, and words drawn by Zipf's law.

A record has a title, an abstract of four sentences and twenty drawn words (some 500 characters), a year, a
journal and authors. Three fifths are Korean. The first N records are the same in every larger corpus. A
catalogue has the same records without abstracts.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from base.sample import SAMPLE_PAPERS
from benchmarks.corpora.generated import documents

SENTENCES, DRAWN_WORDS, TITLE_WORDS = 4, 20, 2
KOREAN_SHARE = 0.6
SENTENCE_END = re.compile(r"(?<=[.다])\s+(?=\S)")


def records(count: int, *, abstracts: bool = True) -> Iterator[dict[str, Any]]:
    """Yield the first `count` records, with or without abstracts."""
    papers = [json.loads(line) for line in SAMPLE_PAPERS.read_text(encoding="utf-8").splitlines()]
    by_language = {
        language: [paper for paper in papers if paper["lang"] == language and paper.get("abstract")]
        for language in ("ko", "en")
    }
    sentences = {
        language: [sentence for paper in own for sentence in SENTENCE_END.split(paper["abstract"])]
        for language, own in by_language.items()
    }
    for document in documents(count):
        draw = random.Random(document.number)  # noqa: S311 - a corpus, not a secret
        language = "ko" if draw.random() < KOREAN_SHARE else "en"
        paper = draw.choice(by_language[language])
        record = {
            "id": f"{document.number:08}",
            "title": " ".join((paper["title"], *document.words[:TITLE_WORDS])),
            "lang": language,
            "year": document.year,
            "journal": document.journal,
            "authors": paper.get("authors", []),
        }
        if abstracts:
            drawn = " ".join(document.words[:DRAWN_WORDS]) + "."
            record["abstract"] = " ".join([*draw.sample(sentences[language], SENTENCES), drawn])
        yield record


def write_records(path: Path, count: int, *, abstracts: bool = True) -> None:
    """Write the first `count` records as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        for record in records(count, abstracts=abstracts):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
