"""A generated corpus of papers that refer to each other.

A paper belongs to a topic, has words of one or two of the topic's aspects, and refers to older papers, mostly
of its topic: by id, by DOI or by an entry of a bibliography. A question has words of one aspect. Some
references lead to papers that are missing, to the paper itself, or twice to the same one.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAPERS_OF_A_TOPIC, ASPECTS, ASPECT_WORDS, COMMON_WORDS = 100, 5, 12, 5_000
TITLE_WORDS, ABSTRACT_WORDS, REFERENCES = 4, 60, 20
SAME_TOPIC, ODD = 0.75, 0.05


def question_of(topic: int) -> str:
    """Return a question about the first aspect of a topic."""
    return " ".join(_aspect(topic, 0)[:4])


def citing_papers(count: int) -> Iterator[dict[str, Any]]:
    """Yield the first `count` papers as records, oldest first."""
    draw = random.Random(14)  # noqa: S311 - a corpus, not a secret
    papers: list[dict[str, Any]] = []
    topics: list[int] = []
    for number in range(count):
        topic = draw.randrange(max(1, count // PAPERS_OF_A_TOPIC))
        aspects = draw.sample(range(ASPECTS), draw.randint(1, 2))
        words = [word for aspect in aspects for word in _aspect(topic, aspect)]
        common = [f"common{draw.randrange(COMMON_WORDS)}" for _ in range(ABSTRACT_WORDS)]
        own = [paper for paper, of in zip(papers, topics, strict=True) if of == topic]
        wanted = [
            draw.choice(own if own and draw.random() < SAME_TOPIC else papers) for _ in papers[:REFERENCES]
        ]
        paper = {
            "id": f"G{number:06}",
            "title": " ".join(draw.sample(words, TITLE_WORDS)).capitalize() + f" {number}",
            "abstract": " ".join(draw.sample(words, len(words) // 2) + common) + ".",
            "year": 1990 + number * 35 // count,
            "authors": [f"Ann {name.capitalize()}" for name in draw.sample(words, 2)],
            "doi": f"10.5555/generated.{number}",
            "lang": "en",
        }
        odd = [f"absent-{number}", paper["id"], *(cited["id"] for cited in wanted[:1])]
        yield paper | _references(wanted, draw) | ({"references": odd} if draw.random() < ODD else {})
        papers.append(paper)
        topics.append(topic)


def write_citing_papers(path: Path, count: int) -> Path:
    """Write the papers as JSON lines."""
    path.write_text("".join(json.dumps(paper) + "\n" for paper in citing_papers(count)), encoding="utf-8")
    return path


def _references(cited: list[dict[str, Any]], draw: random.Random) -> dict[str, Any]:
    """Return references as ids and DOIs, and as a bibliography."""
    ids, entries = [], []
    for paper in cited:
        kind = draw.randrange(10)
        if kind:
            ids.append(paper["doi" if kind == 1 else "id"])
        else:
            text = f"{'; '.join(paper['authors'])} ({paper['year']}). {paper['title']}."
            entries.append({"text": text, **{key: paper[key] for key in ("title", "year", "authors")}})
    return {"references": ids, "reference_list": entries}


def _aspect(topic: int, aspect: int) -> list[str]:
    return [f"topic{topic}aspect{aspect}word{number}" for number in range(ASPECT_WORDS)]
