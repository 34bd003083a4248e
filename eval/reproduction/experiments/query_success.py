"""Query success rate: the share of topics for which at least one relevant document is retrieved.

Table 1 of SHRAG, equation 6. The paper samples 25 Korean and 25 English topics of MIRACL and retrieves about
15 documents for each. Here the ten progressive queries collect at most ten documents each, as in the paper;
their union is ordered by fusion, or by cosine if the index has vectors, and cut. In an index of passages,
such as MIRACL's, a topic may also succeed by another passage of a relevant article, as in the paper, which
compares titles.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from base.calls import Flag, Section
from eval.reproduction.experiment import Cell, Experiment, ExperimentCall, Materials, Outcome, Table
from eval.reproduction.retrieving import open_topic, retrieve
from eval.runs import Run
from eval.units import paper_of
from indexer.corpora.papers import language_of

# Percent, by language of the topics.
PUBLISHED: Mapping[str, float] = {"Korean": 88, "English": 100, "both": 94}
LANGUAGES = {"Korean": ("ko",), "English": ("en",), "both": ("ko", "en", "other")}
Z = 1.959964  # quantile of the normal distribution for a two-sided interval of 95 %


class QuerySuccess(ExperimentCall):
    """The number of documents for each topic, and of topics in the sample."""

    k: Annotated[
        int, Flag("-k", section=Section.LIMITS), Field(ge=1, le=100, description="Documents for each topic.")
    ] = 15
    sample: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(ge=1, le=10_000, description="Sampled topics of each language."),
    ] = 25


async def run(call: QuerySuccess, materials: Materials) -> Outcome:
    """Retrieve the documents of each topic, and count the topics with a relevant one."""
    found: dict[str, Mapping[str, Any]] = {}
    ranked: Run = {}
    for query_id, question in materials.each_topic():
        topic = await open_topic(question, call.k, materials)
        retrieved, relevant = await retrieve(topic, materials), materials.relevant(query_id)
        ranked[query_id] = retrieved.ranking
        found[query_id] = {
            "query_id": query_id,
            "language": language_of(question),
            "relevant": len(relevant),
            "success": bool(relevant.intersection(each for each, _ in ranked[query_id])),
            "success_by_article": bool(
                articles(relevant).intersection(articles(each for each, _ in ranked[query_id]))
            ),
            "success_of_union": bool(relevant & retrieved.union),
            "union": len(retrieved.union),
        }
    sampled = _sample(found, call.sample, call.seed)
    by_language = {
        name: [topic for topic in found.values() if topic["language"] in languages]
        for name, languages in LANGUAGES.items()
    }
    rows = [_row(name, topics, sampled) for name, topics in by_language.items() if topics]
    return Outcome(
        (
            Table(
                f"Query success rate, {call.k} documents for each topic",
                (
                    "topics",
                    "number",
                    "QSR",
                    "95 % from",
                    "to",
                    "QSR by article",
                    "QSR of the union",
                    "mean union",
                    "sampled",
                    "QSR of the sample",
                    "published",
                ),
                tuple(rows),
            ),
        ),
        notes=(
            f"The sample has at most {call.sample} topics of each language, seed {call.seed}.",
            "Published: 25 + 25 topics of MIRACL, searched for in Wikipedia with a model's keywords.",
            *materials.notes(),
        ),
        topics=tuple(found.values()),
        runs={"progressive": ranked},
    )


def _sample(found: Mapping[str, Mapping[str, Any]], size: int, seed: int) -> frozenset[str]:
    """Draw at most `size` topics of each language."""
    draw, drawn = random.Random(seed), set[str]()  # noqa: S311 - not for secrets
    for language in ("ko", "en"):
        names = sorted(name for name, topic in found.items() if topic["language"] == language)
        drawn.update(draw.sample(names, min(size, len(names))))
    return frozenset(drawn)


def _row(name: str, topics: Sequence[Mapping[str, Any]], sampled: frozenset[str]) -> tuple[Cell, ...]:
    low, high = wilson(sum(topic["success"] for topic in topics), len(topics))
    of_sample = [topic for topic in topics if topic["query_id"] in sampled]
    return (
        name,
        len(topics),
        _rate(topics, "success"),
        100 * low,
        100 * high,
        _rate(topics, "success_by_article"),
        _rate(topics, "success_of_union"),
        sum(topic["union"] for topic in topics) / len(topics),
        len(of_sample),
        _rate(of_sample, "success_by_article") if of_sample else None,
        PUBLISHED[name],
    )


def articles(ids: Iterable[str]) -> frozenset[str]:
    """Return the ids of the articles or papers that passages belong to."""
    return frozenset(map(paper_of, ids))


def _rate(topics: Sequence[Mapping[str, Any]], part: str) -> float:
    """Return the percentage of topics in which a part of the record is true."""
    successes: int = sum(topic[part] for topic in topics)
    return 100 * successes / len(topics)


def wilson(successes: int, total: int) -> tuple[float, float]:
    """Return the bounds, 0 to 1, of the 95 % interval of a proportion (Wilson, JASA 22, 1927)."""
    share, spread = successes / total, Z**2 / total
    middle = share + spread / 2
    half = Z * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


EXPERIMENT = Experiment("Query success rate", "SHRAG, table 1 and equation 6", QuerySuccess, run)
