"""Query success rate: the share of topics for which at least one relevant document is retrieved.

Table 1 of SHRAG, equation 6. The paper samples 25 Korean and 25 English topics of MIRACL and retrieves about
15 documents for each. Here the ten progressive queries collect at most ten documents each, as in the paper;
their union is ordered by fusion, or by cosine if the index has vectors, and cut. In an index of passages,
such as MIRACL's, a topic may also succeed by another passage of a relevant article, as in the paper, which
compares titles.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from base.calls import Flag, Section
from eval.reproduction.experiment import (
    Cell,
    Documents,
    Experiment,
    JudgedCall,
    Outcome,
    Record,
    Seed,
    Table,
    TopicResult,
)
from eval.reproduction.materials import Materials
from eval.reproduction.retrieving import open_topic, retrieve
from eval.significance import wilson
from eval.units import paper_of
from indexer.corpora.papers import language_of

# Percent, by language of the topics.
PUBLISHED: Mapping[str, float] = {"QSR, Korean": 88, "QSR, English": 100, "QSR, both": 94}
BOTH = "both"
LANGUAGES = {"Korean": ("ko",), "English": ("en", "other"), BOTH: ("ko", "en", "other")}


class QuerySuccess(JudgedCall):
    """The number of documents for each topic, and of topics in the sample."""

    k: Documents = 15
    sample: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(ge=1, le=10_000, description="Sampled topics of each language."),
    ] = 25
    seed: Seed = 0


async def success_of_topic(
    call: QuerySuccess, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Retrieve the documents of a topic, and compare them with the relevant ones."""
    topic = await open_topic(question, call.k, materials)
    retrieved, relevant = await retrieve(topic, materials), materials.relevant(query_id)
    found = [each for each, _ in retrieved.ranking]
    return TopicResult(
        {
            "language": language_of(question),
            "relevant": len(relevant),
            "success": not relevant.isdisjoint(found),
            "success_by_article": not articles(relevant).isdisjoint(articles(found)),
            "success_of_union": not relevant.isdisjoint(retrieved.union),
            "union": len(retrieved.union),
        },
        {"progressive": retrieved.ranking},
    )


def summary(call: QuerySuccess, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Count the topics with a relevant document, by language."""
    by_language = {
        name: [topic for topic in topics if topic["language"] in languages]
        for name, languages in LANGUAGES.items()
    }
    sampled = {name: _sample(of, call.sample, call.seed) for name, of in by_language.items() if name != BOTH}
    sampled[BOTH] = [topic for of in sampled.values() for topic in of]
    return Outcome(
        (
            Table(
                f"Query success rate, {call.k} documents for each topic",
                (
                    "topics",
                    "number",
                    "QSR, %",
                    "95 % from",
                    "to",
                    "QSR by article",
                    "QSR of the union",
                    "mean union",
                    "sampled",
                    "QSR by article of the sample",
                    "published",
                ),
                tuple(_row(name, of, sampled[name]) for name, of in by_language.items() if of),
            ),
        ),
        notes=(
            f"The sample has at most {call.sample} topics of each language, seed {call.seed}.",
            "Published: 25 + 25 topics of MIRACL, searched for in Wikipedia with a model's keywords.",
            *materials.notes(),
        ),
        main={f"QSR, {name}": _rate(of, "success") for name, of in by_language.items() if of},
    )


def _sample(topics: Sequence[Record], size: int, seed: int) -> list[Record]:
    """Draw at most `size` topics."""
    return random.Random(seed).sample(topics, min(size, len(topics)))  # noqa: S311 - not for secrets


def _row(name: str, topics: Sequence[Record], sample: Sequence[Record]) -> tuple[Cell, ...]:
    low, high = wilson(sum(topic["success"] for topic in topics), len(topics))
    return (
        name,
        len(topics),
        _rate(topics, "success"),
        100 * low,
        100 * high,
        _rate(topics, "success_by_article"),
        _rate(topics, "success_of_union"),
        sum(topic["union"] for topic in topics) / len(topics),
        len(sample),
        _rate(sample, "success_by_article") if sample else None,
        PUBLISHED[f"QSR, {name}"],
    )


def articles(ids: Iterable[str]) -> frozenset[str]:
    """Return the ids of the articles or papers that passages belong to."""
    return frozenset(map(paper_of, ids))


def _rate(topics: Sequence[Record], part: str) -> float:
    """Return the percentage of topics in which a part of the record is true."""
    successes: int = sum(topic[part] for topic in topics)
    return 100 * successes / len(topics)


EXPERIMENT = Experiment(
    "Query success rate",
    "SHRAG, table 1 and equation 6",
    QuerySuccess,
    success_of_topic,
    summary,
    published=PUBLISHED,
)
