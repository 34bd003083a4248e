"""A generated corpus of papers that cite each other, with topics and qrels.

    python -m benchmarks.corpora.citations FOLDER [--papers 20000] [--seed 14]

Each paper belongs to a topic, has words of one or two of the topic's aspects, and cites older papers. Three
of four cited papers have the same topic, and often cited papers are cited more likely (preferential
attachment, Barabási & Albert 1999). A question has words of one aspect, and all papers of its topic are
relevant, so references find papers that the words do not. References are ids, DOIs, or bibliography entries.
Some cite missing papers, the paper itself, or a paper twice, some form cycles, and one paper in ten thousand
cites 5,000 others. Equal numbers and seeds produce equal files.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from base.terminal.output import echo

PAPERS, SEED = 20_000, 14
PAPERS_OF_A_TOPIC, ASPECTS, ASPECT_WORDS, TOPIC_WORDS, COMMON_WORDS = 100, 5, 12, 8, 5_000
ABSTRACT_WORDS, TOPICAL_SHARE = 150, 0.2
REFERENCES, SPREAD, MOST_REFERENCES = 20, 0.6, 80  # median, deviation of the logarithm, maximum per paper
SAME_TOPIC, ABSENT, BY_DOI, BY_TITLE = 0.75, 0.1, 0.1, 0.1
CIRCLES, TO_ITSELF, TWICE = 0.01, 0.002, 0.02  # shares of papers
CROWD, CROWDED = 5_000, 10_000
FIRST_YEAR, YEARS = 1990, 35
CONSONANTS, VOWELS = "bcdfgjklmnprstvz", "aeiou"
SYLLABLES = [consonant + vowel for consonant in CONSONANTS for vowel in VOWELS]
QUESTIONS = 100

Record = dict[str, Any]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CitationCorpus:
    """Number of papers, and the seed; `topic_of` contains the topic of each paper by number."""

    papers: int = PAPERS
    seed: int = SEED
    topic_of: Numbers = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        random = np.random.default_rng((self.seed, 0))
        object.__setattr__(self, "topic_of", random.integers(self.topics, size=self.papers))

    @property
    def topics(self) -> int:
        """The number of topics."""
        return max(1, self.papers // PAPERS_OF_A_TOPIC)

    def records(self) -> Iterator[Record]:
        """Yield the papers as JSON records, oldest first."""
        plain = [self._plain_record(number) for number in range(self.papers)]
        random = np.random.default_rng((self.seed, 2))
        for number, cited in enumerate(self.references()):
            yield plain[number] | _written(cited, plain, random)

    def references(self) -> list[list[int]]:
        """Return the numbers of the cited papers by paper; missing papers have numbers beyond the last."""
        random = np.random.default_rng((self.seed, 1))
        everywhere: list[int] = []
        of_topic: list[list[int]] = [[] for _ in range(self.topics)]
        cited: list[list[int]] = []
        for number, topic in enumerate(self.topic_of.tolist()):
            own = of_topic[topic]
            wanted = min(MOST_REFERENCES, number, int(random.lognormal(np.log(REFERENCES), SPREAD)))
            chosen = dict.fromkeys(
                _drawn(own if own and here else everywhere, random)
                for here in random.random(wanted) < SAME_TOPIC
            )
            absent = random.binomial(wanted, ABSENT)
            cited.append([*chosen, *(self.papers + random.integers(self.papers, size=absent)).tolist()])
            for urn in (own, everywhere):
                urn.append(number)
            for target in chosen:
                everywhere.append(target)
                of_topic[self.topic_of[target]].append(target)
        self._make_odd(cited, random)
        return cited

    def _make_odd(self, cited: list[list[int]], random: np.random.Generator) -> None:
        """Add cycles, self-references, repeated references, and papers that cite thousands."""
        for number in random.permutation(self.papers)[: int(CIRCLES * self.papers)]:
            older = [target for target in cited[number] if target < self.papers]
            if older:
                cited[older[0]].append(int(number))
        for number in random.permutation(self.papers)[: int(TO_ITSELF * self.papers)]:
            cited[number].append(int(number))
        for number in random.permutation(self.papers)[: int(TWICE * self.papers)]:
            cited[number].extend(cited[number][:1])
        for number in range(CROWDED - 1, self.papers, CROWDED):
            cited[number] = random.permutation(number)[:CROWD].tolist()

    def questions(self) -> Iterator[Record]:
        """Yield topics in the format of `shrag eval`, each with words of one aspect."""
        for topic in range(min(QUESTIONS, self.topics)):
            random = np.random.default_rng((self.seed, 3, topic))
            words = [*random.choice(_aspect(topic, 0), 3, replace=False), random.choice(_general(topic))]
            yield {"query_id": f"T{topic:04}", "question": " ".join(map(_word, words))}

    def relevant(self, topic: int) -> list[str]:
        """Return the ids of a topic's papers."""
        return [_id(int(number)) for number in np.flatnonzero(self.topic_of == topic)]

    def _plain_record(self, number: int) -> Record:
        """Return a paper without its references."""
        random, topic = np.random.default_rng((self.seed, 4, number)), int(self.topic_of[number])
        aspects = random.choice(ASPECTS, random.integers(1, 3), replace=False)
        special = np.concatenate([_general(topic), *(_aspect(topic, int(aspect)) for aspect in aspects)])
        common = (COMMON_WORDS ** random.random(ABSTRACT_WORDS)).astype(np.int64) - 1  # Zipf, exponent 1
        topical = random.random(ABSTRACT_WORDS) < TOPICAL_SHARE
        words = np.where(topical, random.choice(special, ABSTRACT_WORDS), common)
        title = [*random.choice(special, 4, replace=False), *(random.integers(COMMON_WORDS, size=3))]
        names = random.integers(COMMON_WORDS, size=(random.integers(1, 5), 2))
        return {
            "id": _id(number),
            "title": " ".join(map(_word, title)).capitalize(),
            "abstract": " ".join(map(_word, words)).capitalize() + ".",
            "year": FIRST_YEAR + number * YEARS // self.papers,
            "authors": [
                f"{_word(given).capitalize()} {_word(family).capitalize()}" for given, family in names
            ],
            "journal": f"Journal of {_word(int(_general(topic)[0]))}",
            "doi": f"10.5555/generated.{number}",
            "lang": "en",
        }


def _written(cited: list[int], plain: list[Record], random: np.random.Generator) -> Record:
    """Format references as ids and DOIs, or as a bibliography."""
    ids, entries = [], []
    for target, kind in zip(cited, random.random(len(cited)).tolist(), strict=True):
        if target >= len(plain):
            ids.append(f"absent-{target}" if kind < 1 - BY_DOI else f"10.5555/absent.{target}")
        elif kind < BY_TITLE:
            paper = plain[target]
            authors = [f"{name.split()[1]}, {name[0]}." for name in paper["authors"]]
            text = f"{'; '.join(authors)} ({paper['year']}). {paper['title']}."
            entries.append({"text": text, "title": paper["title"], "year": paper["year"], "authors": authors})
        else:
            ids.append(plain[target]["doi"] if kind < BY_TITLE + BY_DOI else _id(target))
    return {"references": ids} | ({"reference_list": entries} if entries else {})


def _drawn(urn: list[int], random: np.random.Generator) -> int:
    return urn[int(random.random() * len(urn))]


def _id(number: int) -> str:
    return f"G{number:06}"


def _first_word(topic: int) -> int:
    return COMMON_WORDS + topic * (TOPIC_WORDS + ASPECTS * ASPECT_WORDS)


def _general(topic: int) -> Numbers:
    """Return the words common to all papers of a topic."""
    return np.arange(_first_word(topic), _first_word(topic) + TOPIC_WORDS)


def _aspect(topic: int, aspect: int) -> Numbers:
    first = _first_word(topic) + TOPIC_WORDS + aspect * ASPECT_WORDS
    return np.arange(first, first + ASPECT_WORDS)


def _word(number: int) -> str:
    """Format a number as a word of at least three syllables."""
    text, rest = "", int(number)
    while rest or len(text) < 6:  # noqa: PLR2004 - letters
        rest, syllable = divmod(rest, len(SYLLABLES))
        text += SYLLABLES[syllable]
    return text


def write_corpus(folder: Path, corpus: CitationCorpus) -> Path:
    """Write `papers.jsonl`, `topics.jsonl` and `qrels.txt` into a folder; return the file of papers."""
    folder.mkdir(parents=True, exist_ok=True)
    questions = list(corpus.questions())
    _write_lines(folder / "topics.jsonl", questions)
    judged = (
        f"{question['query_id']} 0 {doc_id} 1\n"
        for topic, question in enumerate(questions)
        for doc_id in corpus.relevant(topic)
    )
    (folder / "qrels.txt").write_text("".join(judged), encoding="utf-8")
    return _write_lines(folder / "papers.jsonl", corpus.records())


def _write_lines(path: Path, records: Iterator[Record] | list[Record]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--papers", type=click.IntRange(1), default=PAPERS, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=SEED, show_default=True)
def main(folder: Path, papers: int, seed: int) -> None:
    """Write a generated corpus with its citations, topics and qrels into FOLDER."""
    echo(f"{papers:,} papers in {write_corpus(folder, CitationCorpus(papers, seed))}")


if __name__ == "__main__":
    main()
