"""Query success rate: the share of topics for which at least one relevant article is retrieved.

Table 1 of SHRAG, equation 6. The paper samples 25 Korean and 25 English topics of MIRACL, retrieves about 15
documents for each, and compares their titles: a topic succeeds by any passage of a relevant article. Here the
ten progressive queries collect at most ten documents each, as in the paper; their union is ordered by cosine
if the index has vectors, else by fusion, and cut. The keywords are recorded (--strategies), of the language
model, or of statistics.

`shrag experiment import miracl` joins both languages in one corpus. --source also searches a live Wikipedia,
or several, whose articles have the numbers of MIRACL's: each topic in the union of all sources.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from base.calls import Flag, Section
from eval.experiments.comparing import Column, Table, main_numbers, mean, percent, wilson_columns
from eval.experiments.experiment import METHOD, Experiment, Results, Topic, TopicResult, ids_of
from eval.experiments.materials import (
    Documents,
    Materials,
    Seed,
    StrategyCall,
    opened_materials,
    with_sources,
)
from eval.experiments.report import Outcome
from eval.units import paper_of
from indexer.corpora.papers import language_of
from retriever.calls import SourceNames
from retriever.request import SearchRequest
from retriever.search import search
from retriever.sources.gathered import index_of_sources
from retriever.strategy import Strategy

# Percent, by language of the topics.
PUBLISHED: Mapping[str, float] = {"QSR, Korean": 88, "QSR, English": 100, "QSR, both": 94}
LANGUAGES = {"Korean": ("ko",), "English": ("en", "other"), "both": ("ko", "en", "other")}


class QuerySuccess(StrategyCall):
    """The number of documents for each topic, of topics in the sample, and live sources."""

    k: Documents = 15
    sample: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(ge=1, le=10_000, description="Sampled topics of each language."),
    ] = 25
    seed: Seed = 0
    sources: SourceNames = ()


@contextmanager
def opened(call: QuerySuccess) -> Iterator[Materials]:
    """Open the inputs, and read the declarations of sources."""
    with opened_materials(call) as usual, with_sources(usual, call.sources) as materials:
        yield materials


async def success_of_topic(topic: Topic) -> TopicResult:
    """Retrieve the documents of a topic, and compare them with the relevant ones."""
    relevant, strategy = topic.relevant, await topic.strategy()
    ranking, union = await (await topic.opened(topic.call.k, strategy)).retrieve()
    found = ids_of(ranking)
    record = {
        "language": language_of(topic.question),
        "success": not articles(relevant).isdisjoint(articles(found)),
        "success_by_passage": not relevant.isdisjoint(found),
        "success_of_union": not articles(relevant).isdisjoint(articles(union)),
        "union": len(union),
    }
    if topic.materials.sources:
        record["success_live"] = not articles(relevant).isdisjoint(await _found_live(topic, strategy))
    return TopicResult(record, {"progressive": ranking})


async def _found_live(topic: Topic, strategy: Strategy | None) -> frozenset[str]:
    """Return the ids of the articles that sources have, with and without their language."""
    sources = topic.materials.sources
    assert sources  # noqa: S101 - checked by the caller
    request = SearchRequest(topic.question, method=METHOD, k=topic.call.k, strategy=strategy)
    async with sources.open() as opened, index_of_sources(opened, sources.models) as index:
        hits = (await search(index, request, topic.settings)).hits
    ids = [(hit.passage.lang, found["id"]) for hit in hits for found in hit.paper.get("found_in", ())]
    return frozenset(name for lang, number in ids for name in (number, f"{lang}:{number}"))


def articles(ids: Iterable[str]) -> frozenset[str]:
    """Return the ids of the articles or papers that passages belong to."""
    return frozenset(map(paper_of, ids))


def _succeeds(part: str) -> Column:
    return percent(lambda topic: topic[part])


def summary(of: Results) -> Outcome:
    """Count the topics with a relevant article, by language."""
    call, draw = of.call, random.Random(of.call.seed)  # noqa: S311 - no secret
    groups = {
        name: topics
        for name, languages in LANGUAGES.items()
        if (topics := [topic for topic in of.topics if topic["language"] in languages])
    }
    samples = {}
    for name, topics in groups.items():
        draw.seed(call.seed)
        samples[name] = draw.sample(topics, min(call.sample, len(topics)))
    samples["both"] = [topic for name, sample in samples.items() if name != "both" for topic in sample]
    success = _succeeds("success")
    columns: dict[str, Column] = {
        "number": len,
        "QSR by article, %": success,
        **({"live sources": _succeeds("success_live")} if of.materials.sources else {}),
        "by passage": _succeeds("success_by_passage"),
        "union": _succeeds("success_of_union"),
        **wilson_columns(lambda topic: topic["success"]),
        "mean union": mean("union"),
    }
    rows = tuple(
        (
            name,
            *(column(topics) for column in columns.values()),
            len(samples[name]),
            success(samples[name]),
            PUBLISHED[f"QSR, {name}"],
        )
        for name, topics in groups.items()
    )
    title = f"Query success rate by article, {call.k} documents for each topic"
    return Outcome(
        (Table(title, ("topics", *columns, "sampled", "QSR of the sample", "published"), rows),),
        notes=(
            f"The sample has at most {call.sample} topics of each language, seed {call.seed}.",
            "Published: 25 + 25 topics of MIRACL, searched for in Wikipedia with a model's keywords.",
        ),
        main=main_numbers(groups, {"QSR": success}),
    )


EXPERIMENT = Experiment(QuerySuccess, success_of_topic, summary, opened, published=PUBLISHED)
