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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Annotated
from unicodedata import normalize

from pydantic import AfterValidator, ConfigDict, TypeAdapter

from base.amounts import counted
from base.errors import InvalidCall
from eval.experiments.experiment import (
    NEEDS_MODEL,
    Cell,
    Experiment,
    Outcome,
    Record,
    SampleRun,
    StrategyCall,
    Table,
    TopicResult,
)
from eval.experiments.materials import Materials, opened_materials, with_more
from eval.experiments.retrieving import open_topic, ranked_by, retrieve, run_name, strategy_of
from eval.experiments.topic_values import topic_values
from eval.runs import Ranking
from eval.significance import difference_cells, difference_columns
from retriever.queries.boolean import And, Not, Or, pattern_clause
from retriever.query_plan import QueryPlan
from retriever.request import SearchRequest
from retriever.search import terms_of
from retriever.strategy import Strategy
from retriever.terms import SearchTerms

PAPERS: TypeAdapter[frozenset[str]] = TypeAdapter(
    frozenset[Annotated[str, AfterValidator(lambda paper_id: normalize("NFC", paper_id))]],  # as in qrels
    config=ConfigDict(coerce_numbers_to_str=True),
)
FIRST, DEPTH = 5, 10
ORIGINS = ("statistics", "strategies")
IGNORED, LAST = "formula, exclusions ignored", "formula, excluded papers last"
ROWS = ("ten queries", "ten queries with NOT", IGNORED, LAST)
NAMES = tuple(f"{row}, {origin}" for origin in ORIGINS for row in ROWS)
FIRST_ROW = f"{IGNORED}, {ORIGINS[0]}"


@dataclass(frozen=True, slots=True)
class ExclusionMaterials(Materials):
    """The inputs, with the papers that each topic excludes."""

    excluded: Mapping[str, frozenset[str]] = field(default_factory=dict)


@contextmanager
def opened(call: StrategyCall) -> Iterator[ExclusionMaterials]:
    """Open the inputs, and keep the topics that exclude papers.

    Raises:
        InvalidCall: no topic excludes a paper; or as `opened_materials`.
    """
    with opened_materials(call) as usual:
        listed = topic_values(usual.inputs["topics"], "excluded", PAPERS)
        excluded = {
            query_id: listed.get(query_id, frozenset())
            | {judged for judged, grade in usual.qrels[query_id].items() if grade < 0}
            for query_id in usual.topics
        }
        kept = {query_id: question for query_id, question in usual.topics.items() if excluded[query_id]}
        if not kept:
            raise InvalidCall(f"no topic of {call.topics} excludes a paper: list them under 'excluded'")
        left_out = f"{counted(len(excluded) - len(kept), 'topic')} left out: no excluded paper."
        yield with_more(
            ExclusionMaterials, usual, topics=kept, gaps=(left_out, *usual.gaps), excluded=excluded
        )


async def rows_of_topic(
    call: StrategyCall, materials: ExclusionMaterials, query_id: str, question: str
) -> TopicResult:
    """Retrieve the documents of a topic with and without its exclusions, by each origin of the strategy."""
    del call
    relevant, excluded = materials.relevant(query_id), materials.excluded[query_id]
    given = {ORIGINS[0]: None, ORIGINS[1]: await strategy_of(materials, query_id, question)}
    rankings: dict[str, Ranking] = {}
    exclusions: dict[str, list[str]] = {}
    for origin, strategy in given.items():
        if strategy is None and origin != ORIGINS[0]:
            continue
        asked = SearchRequest(question, strategy=strategy)
        terms = await terms_of(materials.index, asked, materials.settings.retriever)
        if terms is None:
            continue
        exclusions[origin] = [each.text for each in terms.exclusions]
        found = await _rankings(materials, question, terms)
        rankings |= {f"{row}, {origin}": found[row] for row in ROWS}
    return TopicResult(
        {
            "exclusions": exclusions,
            "relevant": len(relevant),
            "rows": {name: _counts(ranking, relevant, excluded) for name, ranking in rankings.items()},
        },
        {run_name(name): ranking for name, ranking in rankings.items()},
    )


async def _rankings(materials: Materials, question: str, terms: SearchTerms) -> dict[str, Ranking]:
    """Return the ranking of each row for a strategy with its tokens."""
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

    strategy, settings = terms.strategy, materials.settings.retriever
    topic = await open_topic(question, DEPTH, materials, strategy)
    ranked: dict[str, Strategy] = {IGNORED: strategy.changed(exclude=()), LAST: strategy}
    return {
        ROWS[0]: (await retrieve(topic, materials)).ranking,
        ROWS[1]: (await retrieve(topic, materials, plan=with_not)).ranking,
        **{
            row: await ranked_by(materials, SearchRequest(question, k=DEPTH, strategy=of), settings)
            for row, of in ranked.items()
        },
    }


def _counts(ranking: Ranking, relevant: frozenset[str], excluded: frozenset[str]) -> dict[str, int]:
    """Count relevant documents among the first ten, and excluded ones among the first five."""
    ids = [found for found, _ in ranking]
    return {
        "relevant": len(relevant.intersection(ids[:DEPTH])),
        "excluded": len(excluded.intersection(ids[:FIRST])),
    }


def summary(call: StrategyCall, materials: ExclusionMaterials, topics: Sequence[Record]) -> Outcome:
    """Compare the rows by excluded and relevant documents."""
    del call
    measured = [name for name in NAMES if all(name in topic["rows"] for topic in topics)]
    recognised = {
        origin: sum(bool(topic["exclusions"].get(origin)) for topic in topics) for origin in ORIGINS
    }

    def excluded(name: str) -> list[float]:
        return [float(topic["rows"][name]["excluded"] > 0) for topic in topics]

    def relevant(name: str) -> float:
        return fmean(topic["rows"][name]["relevant"] / topic["relevant"] for topic in topics)

    def row(name: str) -> tuple[Cell, ...]:
        if name not in measured:
            return (name, NEEDS_MODEL, None, *(None,) * 4)
        return (
            name,
            fmean(excluded(name)),
            relevant(name),
            *difference_cells(excluded, name, FIRST_ROW),
        )

    columns = (
        f"topics with an excluded paper, first {FIRST}",
        f"share of relevant papers, first {DEPTH}",
        *difference_columns("difference of the topics"),
    )
    return Outcome(
        (Table(f"{len(topics)} topics that exclude papers", ("row", *columns), tuple(map(row, NAMES))),),
        notes=(
            *(
                f"{origin}: {count} topics with a recognised exclusion."
                for origin, count in recognised.items()
            ),
            f"Differences are to {FIRST_ROW}; p: paired randomisation test.",
            *materials.notes(),
        ),
        main={
            **{f"excluded@{FIRST}, {name}": fmean(excluded(name)) for name in measured},
            **{f"relevant@{DEPTH}, {name}": relevant(name) for name in measured},
        },
    )


EXPERIMENT = Experiment(
    "Exclusions",
    "SHRAG, section 3.2, NOT",
    StrategyCall,
    rows_of_topic,
    summary,
    opened,
    shown=tuple(f"excluded@{FIRST}, {row}, {origin}" for origin in ORIGINS for row in (IGNORED, LAST)),
    sample=SampleRun("held-out", "held-out/papers.jsonl"),
)
