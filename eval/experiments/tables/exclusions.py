"""Exclusions of questions: excluded papers among the first five, with statistics and with strategies.

SHRAG, section 3.2, leaves NOT out because it requires an understanding of the question. Here exclusions come
from a strategy: of statistics, which knows explicit signs and a few fixed phrases ("-word", "except X", "X
제외"), and recorded ones (--strategies) or those of the language model. For each origin the ten queries of
the paper run as they are and with NOT of the excluded names, and the formula runs without its exclusions and
with them: papers about an excluded thing then come last.

The headline is the share of topics with an excluded paper among the first five. Papers that a topic excludes
are judged below 0, or are listed under `excluded` of its topic in JSON lines; other topics are counted and
left out.
"""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any
from unicodedata import normalize

from pydantic import AfterValidator

from base.amounts import counted
from base.errors import InvalidCall
from eval.collection import TopicLine
from eval.experiments.comparing import TESTED, Comparison, Outcome, mean
from eval.experiments.experiment import Experiment, Results, SampleRun, Topic, TopicResult, ids_of, result_of
from eval.experiments.materials import Inputs, StrategyCall, read_judged
from eval.runs import Ranking
from retriever.queries.boolean import And, Not, Or, pattern_clause
from retriever.query_plan import QueryPlan
from retriever.request import SearchRequest
from retriever.search import terms_of
from retriever.terms import SearchTerms

FIRST, DEPTH = 5, 10
ORIGINS = ("statistics", "strategies")
IGNORED, LAST = "formula, exclusions ignored", "formula, excluded papers last"
WAYS = ("ten queries", "ten queries with NOT", IGNORED, LAST)
NAMES = tuple(f"{way}, {origin}" for origin in ORIGINS for way in WAYS)
FIRST_ROW = f"{IGNORED}, {ORIGINS[0]}"


class ExcludingTopic(TopicLine):
    """A topic with the papers that it excludes."""

    # In the normal form of qrels.
    excluded: frozenset[Annotated[str, AfterValidator(partial(normalize, "NFC"))]] | None = None


def read(call: StrategyCall, _: Any) -> Inputs:
    """Read the topics that exclude papers; `own` has these papers by query_id."""
    usual = read_judged(call, kind=ExcludingTopic)
    excluded = {
        query_id: (topic.excluded or frozenset())
        | {judged for judged, grade in usual.qrels[query_id].items() if grade < 0}
        for query_id, topic in usual.lines.items()
    }
    kept = {query_id: question for query_id, question in usual.topics.items() if excluded[query_id]}
    if not kept:
        raise InvalidCall(f"no topic of {call.topics} excludes a paper: list them under 'excluded'")
    left_out = f"{counted(len(excluded) - len(kept), 'topic')} left out: no excluded paper."
    return replace(usual, topics=kept, notes=(left_out, *usual.notes), own=excluded)


async def rows_of_topic(topic: Topic) -> TopicResult:
    """Retrieve the documents of a topic with and without its exclusions, by each origin of the strategy."""
    excluded, rankings = topic.materials.own[topic.query_id], dict[str, Ranking]()
    exclusions: dict[str, list[str]] = {}
    for origin, strategy in zip(ORIGINS, (None, await topic.strategy()), strict=True):
        if strategy is None and origin != ORIGINS[0]:
            continue
        asked = SearchRequest(topic.question, strategy=strategy)
        if terms := await topic.materials.index.run(terms_of, asked, topic.settings):
            exclusions[origin] = [each.text for each in terms.exclusions]
            found = await _rankings(topic, terms)
            rankings |= {f"{way}, {origin}": of for way, of in zip(WAYS, found, strict=True)}
    rows = {
        name: {
            "excluded": not excluded.isdisjoint(ids_of(ranking)[:FIRST]),
            "relevant": topic.share(ids_of(ranking)[:DEPTH]),
        }
        for name, ranking in rankings.items()
    }
    return result_of(rows, rankings, exclusions=exclusions)


async def _rankings(topic: Topic, terms: SearchTerms) -> tuple[Ranking, ...]:
    """Return the ranking of each way for a strategy with its tokens."""
    names = Or(
        tuple(
            pattern_clause(" ".join(token for _, token in name), name)
            for each in terms.exclusions
            for name in each.names
        )
    )

    def with_not(plan: QueryPlan) -> QueryPlan:
        if not names.clauses:
            return plan
        queries = (replace(named, query=And((named.query, Not(names)))) for named in plan.queries)
        return replace(plan, queries=tuple(queries))

    strategy = terms.strategy
    queries = await topic.search(k=DEPTH, strategy=strategy)
    asked: dict[str, Any] = {"method": "shrag", "k": DEPTH}
    found = (
        queries,
        await queries.with_changes(plan=with_not),
        await topic.search(**asked, strategy=strategy.changed(exclude=())),
        await topic.search(**asked, strategy=strategy),
    )
    return tuple(of.ranking for of in found)


def summary(of: Results) -> Outcome:
    """Compare the rows by excluded and relevant documents."""
    rows = of.rows((FIRST_ROW, *(name for name in NAMES if name != FIRST_ROW)))
    columns = {
        f"topics with an excluded paper, first {FIRST}": mean("excluded"),
        f"share of relevant papers, first {DEPTH}": mean("relevant"),
    }
    title = f"{len(of.topics)} topics that exclude papers"
    main = {f"excluded@{FIRST}": mean("excluded"), f"relevant@{DEPTH}": mean("relevant")}
    table = Comparison(title, "row", columns, "excluded", "difference of the topics", main=main).table(rows)
    recognised = ((origin, of.count(lambda topic: topic["exclusions"].get(origin))) for origin in ORIGINS)  # noqa: B023
    notes = (f"{origin}: {count} topics with a recognised exclusion." for origin, count in recognised)
    return Outcome((table,), notes=(*notes, f"Differences are to the first row; {TESTED}"))


EXPERIMENT = Experiment(
    StrategyCall,
    rows_of_topic,
    summary,
    read,
    sample=SampleRun("held-out", "held-out/papers.jsonl"),
)
