"""Exclusions in questions: OR against OR with NOT, and against a lower place of excluded papers.

SHRAG, section 3.2, leaves NOT out because it requires an understanding of the question. Here exclusions are
parsed by rules: "not X", "except X", "excluding X", "X가 아닌", "X를 제외하고". "Without X" and "X 없이" are
counted separately: papers that do without X name it, so that NOT drops them.

The first row searches for all words of the question, the second for the words that are not excluded. NOT
then leaves out documents that contain a name of X, in its own words or by a pair of the glossary, anywhere
or in the title. The default order keeps such papers, and puts papers about X last. The rows of OR are the
ten queries of the paper, with keywords of statistics or of the language model.

Papers that a question excludes are judged below 0, or are listed under `excluded` of its topic in JSON lines.
Topics without an exclusion are counted and left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean
from typing import Annotated, Any
from unicodedata import normalize

from pydantic import AfterValidator, ConfigDict, TypeAdapter

from base.amounts import counted
from base.errors import InvalidCall
from eval.reproduction.experiment import (
    Cell,
    Experiment,
    JudgedCall,
    Outcome,
    Record,
    SampleRun,
    Table,
    TopicResult,
)
from eval.reproduction.materials import Materials, opened_materials, with_more
from eval.reproduction.question_exclusions import (
    WITHOUT,
    WRITTEN,
    exclusions_of,
    without_names,
)
from eval.reproduction.retrieving import open_topic, ranking_of, retrieve, run_name
from eval.reproduction.topic_values import topic_values
from eval.runs import Ranking
from eval.significance import compare
from retriever.constraints.exclusions import ROOM
from retriever.constraints.parsing import Constraints
from retriever.question.analysis import analyse_question
from retriever.search import SearchRequest, open_search, run_stages

PAPERS: TypeAdapter[frozenset[str]] = TypeAdapter(
    frozenset[Annotated[str, AfterValidator(lambda paper_id: normalize("NFC", paper_id))]],  # as in qrels
    config=ConfigDict(coerce_numbers_to_str=True),
)
CUTOFFS = (5, 10)
DEFAULT_METHOD = "shrag"

OR, OR_REST = "OR", "OR of the other words"
NOT, NOT_TITLE = "OR + NOT", "OR + NOT in the title"
IGNORED, LAST = "default order, exclusions ignored", "default order, excluded papers last"
ROWS = (OR, OR_REST, NOT, NOT_TITLE, IGNORED, LAST)


@dataclass(frozen=True, slots=True)
class ExclusionMaterials(Materials):
    """The inputs, with the constraints of each topic, and the papers that it excludes."""

    constraints: Mapping[str, Constraints] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    excluded: Mapping[str, frozenset[str]] = field(default_factory=dict)


@contextmanager
def opened(call: JudgedCall) -> Iterator[ExclusionMaterials]:
    """Open the inputs, and keep the topics with an exclusion.

    Raises:
        InvalidCall: no topic has an exclusion; or as `opened_materials`.
    """
    with opened_materials(call) as usual:
        year = usual.settings.retriever.this_year or datetime.now().astimezone().year
        found = {query_id: exclusions_of(question, year) for query_id, question in usual.topics.items()}
        kept = {query_id: of for query_id, of in found.items() if of}
        if not kept:
            raise InvalidCall(f"no topic of {call.topics} has an exclusion, such as 'except X' or 'X가 아닌'")
        left_out = f"{counted(len(found) - len(kept), 'topic')} left out: no exclusion."
        listed = topic_values(usual.inputs["topics"], "excluded", PAPERS)
        yield with_more(
            ExclusionMaterials,
            usual,
            topics={query_id: usual.topics[query_id] for query_id in kept},
            gaps=(left_out, *usual.gaps),
            constraints={query_id: constraints for query_id, (_, constraints) in kept.items()},
            kinds={query_id: kind for query_id, (kind, _) in kept.items()},
            excluded={
                query_id: listed.get(query_id, frozenset())
                | {judged for judged, grade in usual.qrels[query_id].items() if grade < 0}
                for query_id in kept
            },
        )


async def rows_of_topic(
    call: JudgedCall, materials: ExclusionMaterials, query_id: str, question: str
) -> TopicResult:
    """Retrieve the documents of a topic with and without its exclusions."""
    del call
    constraints = materials.constraints[query_id]
    relevant, excluded = materials.relevant(query_id), materials.excluded[query_id]
    analysed = analyse_question(materials.index, question, constraints).constraints
    names = [name.replace(ROOM, " ") for each in analysed.exclusions for name in each.names]
    whole = await open_topic(question, CUTOFFS[-1], materials)
    rest = await open_topic(constraints.remaining(question), CUTOFFS[-1], materials)
    retrieved = {
        OR: await retrieve(whole, materials),
        OR_REST: await retrieve(rest, materials),
        NOT: await retrieve(rest, materials, plan=without_names(names)),
        NOT_TITLE: await retrieve(rest, materials, plan=without_names(names, title=True)),
    }
    rankings = {
        **{name: found.ranking for name, found in retrieved.items()},
        IGNORED: await _by_default_order(materials, question, Constraints()),
        LAST: await _by_default_order(materials, question, constraints),
    }
    return TopicResult(
        {
            "kind": materials.kinds[query_id],
            "exclusions": [each.text for each in constraints.exclusions],
            "relevant": len(relevant),
            "excluded": len(excluded),
            "rows": {name: _counts(ranking, relevant, excluded) for name, ranking in rankings.items()},
        },
        {run_name(name): ranking for name, ranking in rankings.items()},
    )


async def _by_default_order(materials: Materials, question: str, constraints: Constraints) -> Ranking:
    request = SearchRequest(
        question,
        method=DEFAULT_METHOD,
        k=CUTOFFS[-1],
        collapse=materials.collapses,
        constraints=constraints,
    )
    context = open_search(materials.index, request, materials.settings.retriever)
    return ranking_of(await run_stages(context), materials, CUTOFFS[-1])


def _counts(ranking: Ranking, relevant: frozenset[str], excluded: frozenset[str]) -> dict[str, int]:
    """Count relevant and excluded documents among the first ones."""
    ids = [found for found, _ in ranking]
    return {
        f"{name}@{cutoff}": len(wanted.intersection(ids[:cutoff]))
        for cutoff in CUTOFFS
        for name, wanted in (("relevant", relevant), ("excluded", excluded))
    }


def summary(call: JudgedCall, materials: ExclusionMaterials, topics: Sequence[Record]) -> Outcome:
    """Compare the rows by relevant and excluded documents, for each kind of exclusion."""
    del call
    tables: list[Table] = []
    main: dict[str, float] = {}
    for kind in (WRITTEN, WITHOUT):
        of = [topic for topic in topics if topic["kind"] == kind]
        if of:
            tables += [_values_table(kind, of), _tests_table(kind, of)]
            main[f"topics, {kind}"] = float(len(of))
            for row in ROWS:
                main[f"relevant@10, {kind}, {row}"] = fmean(_relevant(row, of))
                if judged := _judged(of):
                    main[f"excluded@5, {kind}, {row}"] = fmean(_excluded(row, judged, CUTOFFS[0]))
    return Outcome(
        tuple(tables),
        notes=(
            "Excluded documents are counted for topics with judged ones.",
            f"p: paired randomisation test against {OR}.",
            *materials.notes(),
        ),
        main=main,
    )


def _judged(topics: Sequence[Record]) -> list[Record]:
    return [topic for topic in topics if topic["excluded"]]


def _relevant(row: str, topics: Sequence[Record], cutoff: int = CUTOFFS[-1]) -> list[float]:
    """Return the share of each topic's relevant documents among the first ones."""
    return [topic["rows"][row][f"relevant@{cutoff}"] / topic["relevant"] for topic in topics]


def _excluded(row: str, topics: Sequence[Record], cutoff: int) -> list[float]:
    """Return the number of excluded documents of each topic among the first ones."""
    return [float(topic["rows"][row][f"excluded@{cutoff}"]) for topic in topics]


def _values_table(kind: str, topics: Sequence[Record]) -> Table:
    judged = _judged(topics)

    def cells(row: str) -> tuple[Cell, ...]:
        shares: list[Cell] = [fmean(_relevant(row, topics, cutoff)) for cutoff in CUTOFFS]
        numbers: list[Cell] = [fmean(_excluded(row, judged, each)) if judged else None for each in CUTOFFS]
        any_excluded = (
            100 * fmean(each > 0 for each in _excluded(row, judged, CUTOFFS[0])) if judged else None
        )
        return (row, *shares, *numbers, any_excluded)

    return Table(
        f"{_title(kind)}: {len(topics)} topics, {len(judged)} with judged excluded documents",
        (
            "queries",
            *(f"share of relevant documents, first {cutoff}" for cutoff in CUTOFFS),
            *(f"excluded documents, first {cutoff}" for cutoff in CUTOFFS),
            f"% of topics with an excluded document, first {CUTOFFS[0]}",
        ),
        tuple(map(cells, ROWS)),
    )


def _title(kind: str) -> str:
    return kind[0].upper() + kind[1:]


def _tests_table(kind: str, topics: Sequence[Record]) -> Table:
    last, judged = CUTOFFS[-1], _judged(topics)
    values: Mapping[str, Callable[[str], list[float]]] = {
        f"share of relevant documents, first {last}": lambda row: _relevant(row, topics),
        **({f"excluded documents, first {last}": lambda row: _excluded(row, judged, last)} if judged else {}),
    }
    rows: list[tuple[Any, ...]] = [
        (row, name, *compare(of(OR), of(row)).as_cells())
        for name, of in values.items()
        for row in ROWS
        if row != OR
    ]
    return Table(
        f"{_title(kind)}: differences to {OR}",
        ("queries", "measure", "difference", "95 %", "p", "higher / same / lower"),
        tuple(rows),
    )


EXPERIMENT = Experiment(
    "Exclusions",
    "SHRAG, section 3.2, NOT",
    JudgedCall,
    rows_of_topic,
    summary,
    opened,
    shown=tuple(
        f"{measure}, {WRITTEN}, {row}" for row in (OR, NOT, LAST) for measure in ("relevant@10", "excluded@5")
    ),
    sample=SampleRun(
        "held-out/papers.jsonl",
        "held-out",
        {"topics": "held-out/topics.jsonl", "qrels": "held-out/qrels.txt"},
    ),
)
