"""Generated corpora: words drawn by Zipf's law, reproducibly, alone or with sentences of the sample.

The probability of the word of rank r is proportional to 1 / r; words are their ranks in base 36. Documents
are drawn in blocks with separate generators, so that the first N documents are the same in every larger
corpus.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from base.sample import SAMPLE_PAPERS

SEED = 20_240_607
VOCABULARY = 1_000_000
DOCUMENT_TOKENS = 60
TITLE_TOKENS = 5
BLOCK = 10_000
QUESTION_TERMS = 10
YEARS = range(1990, 2025)
JOURNALS = 200
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
# Streams of random numbers, separate from those of the blocks.
QUESTION_STREAM, WARM_UP_STREAM = 1_000_000_000, 1_000_000_001
# Of a record with sentences of the sample.
SENTENCES, DRAWN_WORDS, DRAWN_IN_TITLE, KOREAN_SHARE = 4, 20, 2, 0.6
SENTENCE_END = re.compile(r"(?<=[.다])\s+(?=\S)")

Ranks = NDArray[np.int64]
Record = dict[str, Any]


class Document(NamedTuple):
    """A document of drawn words."""

    number: int
    words: tuple[str, ...]
    year: int
    journal: str


def documents(count: int) -> Iterator[Document]:
    """Yield the first `count` documents of the corpus."""
    for first in range(0, count, BLOCK):
        drawn = np.random.default_rng((SEED, first // BLOCK))
        ranks = draw(drawn, (BLOCK, DOCUMENT_TOKENS)).tolist()
        years = drawn.integers(YEARS.start, YEARS.stop, BLOCK).tolist()
        journals = drawn.integers(JOURNALS, size=BLOCK).tolist()
        for offset in range(min(BLOCK, count - first)):
            words = tuple(map(word, ranks[offset]))
            yield Document(first + offset, words, years[offset], f"Journal {journals[offset]}")


def questions(count: int, stream: int = QUESTION_STREAM) -> list[tuple[str, ...]]:
    """Return questions of ten distinct words drawn like the text, rarest (highest rank) first."""
    drawn = np.random.default_rng((SEED, stream))
    asked = []
    for _ in range(count):
        terms: set[int] = set()
        while len(terms) < QUESTION_TERMS:
            terms.add(int(draw(drawn, (1,))[0]))
        asked.append(tuple(word(rank) for rank in sorted(terms, reverse=True)))
    return asked


def draw(drawn: np.random.Generator, shape: tuple[int, ...]) -> Ranks:
    """Draw ranks from 1, with probabilities proportional to their reciprocals."""
    cumulative = _cumulative()
    places: Ranks = np.searchsorted(cumulative, drawn.random(shape) * cumulative[-1], side="right")
    return places + 1


@cache
def _cumulative() -> NDArray[np.float64]:
    return np.cumsum(1.0 / np.arange(1, VOCABULARY + 1))


@cache
def word(rank: int) -> str:
    """Format a rank in base 36."""
    text = ""
    while rank:
        rank, digit = divmod(rank, len(DIGITS))
        text = DIGITS[digit] + text
    return text


def records_of_words(count: int) -> Iterator[Record]:
    """Yield the first `count` documents as records; the first five words are the title."""
    for number, words, year, journal in documents(count):
        title, text = " ".join(words[:TITLE_TOKENS]), " ".join(words[TITLE_TOKENS:])
        record = {"id": f"{number:07}", "title": title, "abstract": text, "lang": "en"}
        yield record | {"year": year, "journal": journal}


def records(count: int, *, abstracts: bool = True) -> Iterator[Record]:
    """Yield records with sentences of the sample, three fifths Korean; a catalogue has no abstracts.

    A record has a title, an abstract of four sentences and twenty drawn words (some 500 characters), a year,
    a journal and authors.
    """
    papers = [json.loads(line) for line in SAMPLE_PAPERS.read_text(encoding="utf-8").splitlines()]
    own = {
        language: [paper for paper in papers if paper["lang"] == language and paper.get("abstract")]
        for language in ("ko", "en")
    }
    sentences = {
        language: [sentence for paper in of for sentence in SENTENCE_END.split(paper["abstract"])]
        for language, of in own.items()
    }
    for number, words, year, journal in documents(count):
        chance = random.Random(number)  # noqa: S311 - a corpus, not a secret
        language = "ko" if chance.random() < KOREAN_SHARE else "en"
        paper = chance.choice(own[language])
        record = {
            "id": f"{number:08}",
            "title": " ".join((paper["title"], *words[:DRAWN_IN_TITLE])),
            "lang": language,
            "year": year,
            "journal": journal,
            "authors": paper.get("authors", []),
        }
        if abstracts:
            drawn = " ".join(words[:DRAWN_WORDS]) + "."
            record["abstract"] = " ".join([*chance.sample(sentences[language], SENTENCES), drawn])
        yield record


def write_lines(path: Path, made: Iterable[Mapping[str, Any]]) -> Path:
    """Write records as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in made)
    return path
