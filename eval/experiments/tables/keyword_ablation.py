"""Keywords and queries: number, language, granularity and origin of keywords, and ten queries against one.

Section 3 of SHRAG names these choices without a table: at most ten keywords of both languages in the order of
importance, compounds split into words, in ten queries whose results are joined, without documents that lack
an abstract. Each row changes one choice. Keywords come from recorded strategies (--strategies), from the
language model, or from statistics, which know words only: compounds, such as "electronic textbook" as a
phrase, and the prompts need a model. The paper has a prompt for each language.

Ten queries and one query are timed after the keywords are chosen, each with its own cache of passages. The
processor time is that of the whole process.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any

from eval.experiments.calls import Documents, StrategyCall
from eval.experiments.comparing import ROWS, TESTED, compared, main_numbers, mean, percent, rows_of
from eval.experiments.experiment import SECONDS, Experiment, Outcome, Record, TopicResult
from eval.experiments.materials import Materials
from eval.experiments.retrieving import (
    ChangeKeywords,
    ChangePlan,
    OpenTopic,
    as_phrases,
    ids_of,
    open_topic,
    retrieve,
    runs_by_row,
    share_of,
    strategy_of,
)
from eval.runs import Ranking
from indexer.analysis import Analyzer
from indexer.corpora.papers import Language
from retriever.queries.keywords import Keyword
from retriever.query_plan import QueryPlan
from retriever.strategy import LANGUAGES, Strategy, languages_from

MAX_HITS = 100  # documents of a single query
LEAST, MOST = 2, 5  # keywords of each language in the paper's prompts


class KeywordAblation(StrategyCall):
    """How many documents."""

    k: Documents = 15


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of the table: the change to keywords, queries or documents."""

    name: str
    keywords: ChangeKeywords | None = None
    plan: ChangePlan | None = None
    keeps_incomplete: bool = False


def _first(count: int) -> ChangeKeywords:
    return lambda keywords: keywords[:count]


def _of_language(language: str) -> ChangeKeywords:
    return lambda keywords: [keyword for keyword in keywords if keyword.language == language]


def _only_longest(hits: int) -> ChangePlan:
    """Keep the query of all keywords, and let it return that many documents."""
    return lambda plan: QueryPlan(tuple(replace(named, k=hits) for named in plan.queries[:1]))


VARIANTS = (
    Variant("ten keywords, ten queries"),
    *(
        Variant(f"{count} keywords" if count > 1 else "1 keyword", _first(count))
        for count in (8, 6, 5, 4, 3, 2, 1)
    ),
    Variant("Korean keywords only", _of_language("ko")),
    Variant("English keywords only", _of_language("en")),
    Variant("one query of all keywords, ten documents", plan=_only_longest(10)),
    Variant(f"one query of all keywords, {MAX_HITS} documents", plan=_only_longest(MAX_HITS)),
    Variant("papers without an abstract kept", keeps_incomplete=True),
)
TIMED = (VARIANTS[0], *VARIANTS[-3:-1])
FEWER = tuple(f"at most {count} of each language" for count in range(MOST - 1, LEAST - 1, -1))
COMPOUNDS, ONE_PROMPT = "compounds whole", "one prompt for both languages"
STATISTICS = "keywords of statistics"
NAMES = (*(variant.name for variant in VARIANTS), *FEWER, COMPOUNDS, ONE_PROMPT, STATISTICS)


async def variants_of_topic(
    call: KeywordAblation, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Retrieve the documents of a topic in each variant."""
    relevant, options = materials.relevant(query_id), materials.settings.retriever
    strategy = await strategy_of(materials, query_id, question)
    records: dict[str, Any] = {}
    rankings: dict[str, Ranking] = {}

    async def add(name: str, topic: OpenTopic, variant: Variant = VARIANTS[0]) -> None:
        found = await retrieve(topic, materials, keywords=variant.keywords, plan=variant.plan)
        rankings[name] = found.ranking
        records[name] = {
            "share": share_of(relevant, ids_of(found.ranking)),
            "share of union": share_of(relevant, found.union),
            "union": len(found.union),
        }

    usual = await open_topic(question, call.k, materials, strategy)
    kept = options.model_copy(update={"drop_incomplete": False})
    for variant in VARIANTS:
        topic = usual
        if variant.keeps_incomplete:
            topic = await open_topic(question, call.k, materials, strategy, kept)
        await add(variant.name, topic, variant)
    if strategy:
        for count, name in zip(range(MOST - 1, LEAST - 1, -1), FEWER, strict=True):
            few = strategy.changed(**{each: strategy.keywords(each)[:count] for each in LANGUAGES})
            await add(name, await open_topic(question, call.k, materials, few))
        first = next((each.language for each in usual.keywords), LANGUAGES[0])
        whole = whole_keywords(strategy, first, materials.index.analyzer)
        await add(COMPOUNDS, usual, Variant(COMPOUNDS, lambda _: whole[: options.keywords], as_phrases))
        await add(STATISTICS, await open_topic(question, call.k, materials, None))
    if materials.models:
        model = await materials.models.changed(strategy_calls="one")
        joint = await strategy_of(materials, query_id, question, model)
        await add(ONE_PROMPT, await open_topic(question, call.k, materials, joint))
    seconds: dict[str, float] = {}
    for variant in TIMED:
        topic = await open_topic(question, call.k, materials, strategy)
        seconds |= await _seconds(variant, topic, materials)
    return TopicResult({ROWS: records, SECONDS: seconds}, runs_by_row(rankings))


def whole_keywords(strategy: Strategy, first: Language, analyzer: Analyzer) -> list[Keyword]:
    """Return the keywords of a strategy as they are, those of the `first` language before the other's."""
    sides = ([(text, each) for text in strategy.keywords(each)] for each in languages_from(first))
    analysed = (
        Keyword(text, language, tuple(token[0] for token in analyzer.analyze(text)))
        for text, language in filter(None, chain.from_iterable(zip_longest(*sides)))
    )
    return [keyword for keyword in analysed if keyword.tokens]


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
    rows = rows_of(topics, NAMES if materials.has_strategies else NAMES[:-1])
    columns = {
        "QSR, %": percent(lambda record: record["share"] > 0),
        "share of relevant documents": mean("share"),
        "share found by the union": mean("share of union"),
        "mean union": mean("union"),
    }
    title = f"Variants of keywords and queries, {call.k} documents for each topic"
    table = compared(
        title, "variant", rows, columns, lambda record: record["share"], "difference of the share"
    )
    notes = (f"Differences are to the first row; {TESTED}",)
    return Outcome((table,), notes=notes, main=main_numbers(rows, {"share": mean("share")}))


EXPERIMENT = Experiment(
    KeywordAblation,
    variants_of_topic,
    summary,
    shown=tuple(
        f"share, {name}" for name in (NAMES[0], "5 keywords", "Korean keywords only", COMPOUNDS, STATISTICS)
    ),
)
