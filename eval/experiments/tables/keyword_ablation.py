"""Keywords and queries: number, language, granularity and origin of keywords, and ten queries against one.

Section 3 of SHRAG names these choices without a table: at most ten keywords of both languages in the order of
importance, compounds split into words, in ten queries whose results are joined, without documents that lack
an abstract. Each row changes one choice. Keywords come from recorded strategies (--strategies), from the
language model, or from statistics, which know words only: compounds, such as "electronic textbook" as a
phrase, and the prompts need a model. The paper has a prompt for each language.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, zip_longest
from typing import NamedTuple

from eval.experiments.comparing import TESTED, Comparison, Outcome, mean, percent
from eval.experiments.experiment import (
    ChangeKeywords,
    ChangePlan,
    Experiment,
    Results,
    Topic,
    TopicResult,
    ids_of,
    result_of,
)
from eval.experiments.materials import StrategyCall, documents
from indexer.analysis import Analyzer
from indexer.corpora.papers import Language
from retriever.queries.boolean import Or, Phrase, Query, Term
from retriever.queries.keywords import Keyword
from retriever.query_plan import QueryPlan
from retriever.strategy import LANGUAGES, Strategy, languages_from

MAX_HITS = 100  # documents of a single query


class KeywordAblation(StrategyCall):
    """How many documents."""

    k: int = documents(15)


class Variant(NamedTuple):
    """A row of the table: the change to keywords, queries or documents."""

    keywords: ChangeKeywords = tuple
    plan: ChangePlan | None = None
    keeps_incomplete: bool = False


def _first(count: int) -> Variant:
    return Variant(lambda keywords: keywords[:count])


def _of_language(language: str) -> Variant:
    return Variant(lambda keywords: [keyword for keyword in keywords if keyword.language == language])


def _only_longest(hits: int) -> Variant:
    """Keep the query of all keywords, and let it return that many documents."""
    return Variant(plan=lambda plan: QueryPlan(tuple(replace(named, k=hits) for named in plan.queries[:1])))


USUAL = "ten keywords, ten queries"
ONE_QUERY = {
    "one query of all keywords, ten documents": _only_longest(10),
    f"one query of all keywords, {MAX_HITS} documents": _only_longest(MAX_HITS),
}
VARIANTS: Mapping[str, Variant] = {
    USUAL: Variant(),
    **{f"{count} keywords": _first(count) for count in (8, 6, 5, 4, 3, 2)},
    "1 keyword": _first(1),
    "Korean keywords only": _of_language("ko"),
    "English keywords only": _of_language("en"),
    **ONE_QUERY,
    "papers without an abstract kept": Variant(keeps_incomplete=True),
}
# The paper's prompts have 2 to 5 keywords of each language.
FEWER = {f"at most {count} of each language": count for count in (4, 3, 2)}
COMPOUNDS, ONE_PROMPT = "compounds whole", "one prompt for both languages"
STATISTICS = "keywords of statistics"
NAMES = (*VARIANTS, *FEWER, COMPOUNDS, ONE_PROMPT, STATISTICS)


async def variants_of_topic(topic: Topic) -> TopicResult:
    """Retrieve the documents of a topic in each variant."""
    k, materials, strategy = topic.call.k, topic.materials, await topic.strategy()
    kept = topic.settings.model_copy(update={"drop_incomplete": False})
    usual, incomplete = [
        await topic.search(settings, upto="terms", k=k, strategy=strategy)
        for settings in (topic.settings, kept)
    ]
    found = {
        name: await (incomplete if variant.keeps_incomplete else usual).with_changes(
            variant.keywords, variant.plan
        )
        for name, variant in VARIANTS.items()
    }
    if strategy:
        for name, count in FEWER.items():
            few = strategy.changed(**{each: strategy.keywords(each)[:count] for each in LANGUAGES})
            found[name] = await topic.search(k=k, strategy=few)
        first = next((each.language for each in usual.keywords), LANGUAGES[0])
        whole = whole_keywords(strategy, first, materials.index.analyzer)[: topic.settings.keywords]
        found[COMPOUNDS] = await usual.with_changes(lambda _: whole, as_phrases)
        found[STATISTICS] = await topic.search(k=k)
    if materials.open_model:
        model = await materials.open_model(materials.settings.with_llm(strategy_calls="one"))
        found[ONE_PROMPT] = await topic.search(k=k, strategy=await topic.strategy(model))
    rows = {
        name: {
            "share": topic.share(ids_of(of.ranking)),
            "share of union": topic.share(of.union),
            "union": len(of.union),
        }
        for name, of in found.items()
    }
    return result_of(rows, {name: of.ranking for name, of in found.items()})


def as_phrases(plan: QueryPlan) -> QueryPlan:
    """Search for a keyword of several tokens as a phrase, instead of any of its tokens."""
    queries = (replace(named, query=_with_phrases(named.query)) for named in plan.queries)
    return replace(plan, queries=tuple(queries))


def _with_phrases(query: Query) -> Query:
    if isinstance(query, Or):
        return Or(tuple(map(_with_phrases, query.clauses)))
    if isinstance(query, Term) and len(query.tokens) > 1:
        return Phrase(query.text, tuple(enumerate(query.tokens)), query.field, query.weight)
    return query


def whole_keywords(strategy: Strategy, first: Language, analyzer: Analyzer) -> list[Keyword]:
    """Return the keywords of a strategy as they are, those of the `first` language before the other's."""
    sides = ([(text, each) for text in strategy.keywords(each)] for each in languages_from(first))
    analysed = (
        Keyword(text, language, tuple(token[0] for token in analyzer.analyze(text)))
        for text, language in filter(None, chain.from_iterable(zip_longest(*sides)))
    )
    return [keyword for keyword in analysed if keyword.tokens]


COLUMNS = {
    "QSR, %": percent(lambda record: record["share"] > 0),
    "share of relevant documents": mean("share"),
    "share found by the union": mean("share of union"),
    "mean union": mean("union"),
}


def summary(of: Results) -> Outcome:
    """Compare the variants with the first one."""
    rows = of.rows(NAMES if of.materials.strategies or of.materials.model else NAMES[:-1])
    title = f"Variants of keywords and queries, {of.call.k} documents for each topic"
    main = {"share": mean("share")}
    table = Comparison(title, "variant", COLUMNS, "share", "difference of the share", main=main)
    return Outcome((table.table(rows),), notes=(f"Differences are to the first row; {TESTED}",))


EXPERIMENT = Experiment(
    KeywordAblation,
    variants_of_topic,
    summary,
)
