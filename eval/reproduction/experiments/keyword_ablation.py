"""Keywords and queries: how many keywords, of which language, in which order, and ten queries against one.

Section 3 of SHRAG names these choices without a table: at most ten keywords in the order of importance, of
both languages, compounds split into words, in ten queries whose results are joined, without documents that
lack an abstract. Each row changes one choice. Without a language model the keywords come from statistics;
importance is TF-IDF, or the entropy of equation 2. With a model the keywords of the first row are in the
model's order.

Ten queries and one query are timed after the keywords are chosen, each with its own cache of passages. The
processor time is that of the whole process.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from eval.reproduction.experiment import (
    SECONDS,
    Documents,
    Experiment,
    JudgedCall,
    Outcome,
    Record,
    Table,
    TopicResult,
)
from eval.reproduction.materials import Materials
from eval.reproduction.retrieving import (
    ChangeKeywords,
    ChangePlan,
    OpenTopic,
    keywords_of_model,
    open_topic,
    retrieve,
    run_name,
    whole_compounds,
)
from eval.reproduction.variants import (
    NOTE,
    VARIANTS,
    main_shares,
    variant_record,
    variants_table,
)
from eval.runs import Ranking
from retriever.query_plan import QueryPlan
from retriever.settings import KeywordRanking, RetrieverSettings

MOST = 100  # documents of a single query


class KeywordAblation(JudgedCall):
    """How many documents."""

    k: Documents = 15


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of the table: the change to keywords, queries or importance."""

    name: str
    keywords: ChangeKeywords | None = None
    plan: ChangePlan | None = None
    importance: KeywordRanking | None = None
    keeps_incomplete: bool = False

    def settings(self, usual: RetrieverSettings) -> RetrieverSettings | None:
        """Return the settings of the variant; None if they are the usual ones."""
        changes: dict[str, Any] = {}
        if self.importance:
            changes = {"ranking": self.importance, "keywords_ranked": True}
        if self.keeps_incomplete:
            changes["drop_incomplete"] = False
        return usual.model_copy(update=changes) if changes else None


def _first(count: int) -> ChangeKeywords:
    return lambda keywords: keywords[:count]


def _of_language(language: str) -> ChangeKeywords:
    return lambda keywords: [keyword for keyword in keywords if keyword.language == language]


def _only_longest(hits: int) -> Callable[[QueryPlan], QueryPlan]:
    """Keep the query of all keywords, and let it return that many documents."""
    return lambda plan: QueryPlan(tuple(replace(named, k=hits) for named in plan.queries[:1]))


ROWS = (
    Variant("ten keywords, ten queries"),
    *(
        Variant(f"{count} keywords" if count > 1 else "1 keyword", _first(count))
        for count in (8, 6, 5, 4, 3, 2, 1)
    ),
    Variant("Korean keywords only", _of_language("ko")),
    Variant("English keywords only", _of_language("en")),
    Variant("compounds whole", plan=whole_compounds),
    Variant("importance by entropy", importance="entropy"),
    Variant("importance by TF-IDF", importance="tf-idf"),
    Variant("one query of all keywords, ten documents", plan=_only_longest(10)),
    Variant(f"one query of all keywords, {MOST} documents", plan=_only_longest(MOST)),
    Variant("papers without an abstract kept", keeps_incomplete=True),
)
TIMED = (ROWS[0], ROWS[-3], ROWS[-2])
NAMES = tuple(variant.name for variant in ROWS)


async def variants_of_topic(
    call: KeywordAblation, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Retrieve the documents of a topic in each variant."""
    relevant, options = materials.relevant(query_id), materials.settings.retriever
    given = None
    if materials.model:
        given = await keywords_of_model(question, materials.model, materials, options)
    usual = await open_topic(question, call.k, materials, keywords=given)
    records: dict[str, Any] = {}
    rankings: dict[str, Ranking] = {}
    for variant in ROWS:
        topic, settings = usual, variant.settings(options)
        if settings:
            topic = await open_topic(question, call.k, materials, settings=settings, keywords=given)
        found = await retrieve(topic, materials, keywords=variant.keywords, plan=variant.plan)
        rankings[run_name(variant.name)] = found.ranking
        records[variant.name] = variant_record(found, relevant)
    seconds: dict[str, float] = {}
    for variant in TIMED:
        topic = await open_topic(question, call.k, materials, keywords=given)
        seconds |= await _seconds(variant, topic, materials)
    return TopicResult({"relevant": len(relevant), VARIANTS: records, SECONDS: seconds}, rankings)


async def _seconds(variant: Variant, topic: OpenTopic, materials: Materials) -> dict[str, float]:
    """Time the retrieval of a topic: elapsed and processor time."""
    started, processor = time.perf_counter(), time.process_time()
    await retrieve(topic, materials, plan=variant.plan)
    return {
        variant.name: time.perf_counter() - started,
        f"{variant.name}, processor": time.process_time() - processor,
    }


def summary(call: KeywordAblation, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compare the variants with the first one."""
    title = f"Variants of keywords and queries, {call.k} documents for each topic"
    return Outcome(
        (variants_table(title, NAMES, topics), _times(topics)),
        notes=(NOTE, *materials.notes()),
        main=main_shares(NAMES, topics),
    )


def _times(topics: Sequence[Record]) -> Table:
    """Return the mean times of a topic."""
    seconds = [topic[SECONDS] for topic in topics]
    return Table(
        "Milliseconds of a topic",
        ("queries", "elapsed", "processor"),
        tuple(
            (
                variant.name,
                1_000 * fmean(of[variant.name] for of in seconds),
                1_000 * fmean(of[f"{variant.name}, processor"] for of in seconds),
            )
            for variant in TIMED
        ),
        timed=True,
    )


EXPERIMENT = Experiment(
    "Keyword ablation",
    "SHRAG, sections 3.1 and 3.2",
    KeywordAblation,
    variants_of_topic,
    summary,
    shown=tuple(
        f"share, {name}" for name in (NAMES[0], "5 keywords", "Korean keywords only", "compounds whole")
    ),
)
