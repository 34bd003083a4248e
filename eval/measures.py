"""Scores of a run, computed by ir_measures (which uses trec_eval for the common measures).

https://ir-measur.es lists the measures and their parameters.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import ir_measures
import numpy as np
from ir_measures.providers import FallbackProvider

from eval.collection import Qrels
from eval.errors import BadMeasure, NothingJudged
from eval.runs import ReadRun

EXAMPLES = "nDCG@10, R@100, Success@5, P@10, RR, MAP, R(rel=2)@100"

# Separated by white space or commas, except inside brackets.
NAME = re.compile(r"(?:[^\s,(]|\([^)]*\))+")
LARGEST_PARAMETER = 1_000_000
TOGETHER = 200  # questions of one call of a provider; bounds the memory
# Measures with a cutoff that depend only on the ranking up to it.
CUT = frozenset({"AP", "Judged", "P", "R", "RR", "Success", "nDCG"})

# All providers that run in this process: gdeval is an external script that needs numeric query ids.
PROVIDERS: Any = FallbackProvider(  # type: ignore[no-untyped-call]
    [
        ir_measures.pytrec_eval,
        ir_measures.cwl_eval,
        ir_measures.compat,
        ir_measures.pyndeval,
        ir_measures.judged,
        ir_measures.msmarco,
        ir_measures.accuracy,
    ]
)


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a run: means by measure, values by question, and questions with nothing to score.

    `per_query` is {measure: {query_id: value}} in the order of the qrels. `missing` are judged questions that
    are not in the run, and count 0. `without_relevant` are questions without a relevant judgement, `unjudged`
    those without any; both are ignored.
    """

    means: dict[str, float]
    per_query: dict[str, dict[str, float]]
    missing: tuple[str, ...]
    without_relevant: tuple[str, ...]
    unjudged: tuple[str, ...]


def score(
    qrels: Qrels, run: Mapping[str, Sequence[tuple[str, float]]], measures: str | Iterable[str]
) -> dict[str, float]:
    """Return the mean of each measure, by its given name; see `evaluate`."""
    return evaluate(qrels, run, measures).means


def evaluate(
    qrels: Qrels,
    run: Mapping[str, Sequence[tuple[str, float]]],
    measures: str | Iterable[str],
    *,
    left_out: Collection[str] = (),
) -> Scores:
    """Score a run over all questions that have a relevant judgement, except those in `left_out`.

    Scores, in single precision, determine the order of a ranking; ties are broken as in trec_eval (by id,
    descending) for all measures. `write_run` and `as_written` leave no ties.

    Raises:
        BadMeasure: a measure is unknown or cannot be computed here.
        NothingJudged: no question in the qrels has a relevant judgement, or none of them is in the run.
    """
    asked = parse_measures(measures)
    relevant = {query_id: grades for query_id, grades in qrels.items() if max(grades.values(), default=0) > 0}
    judged = {query_id: grades for query_id, grades in relevant.items() if query_id not in left_out}
    if not judged:
        raise NothingJudged("no question of the run has a relevant judgement (a grade of 1 or more)")
    if run and not any(query_id in qrels for query_id in run):
        raise NothingJudged(
            f"no question of the run ({next(iter(run))}, …) is judged in the qrels "
            f"({next(iter(judged))}, …); check that they belong to the same topics"
        )
    values: dict[ir_measures.Measure, dict[str, float]] = {measure: {} for measure in asked.values()}
    depth, answered = _depth(values), set[str]()
    for some in _batches(judged):
        ranked = {
            key: run.beginning(key, depth) if depth and isinstance(run, ReadRun) else run[key]
            for key in some
            if key in run
        }
        scored = {query_id: without_ties(each, depth) for query_id, each in ranked.items() if each}
        answered.update(scored)
        for metric in PROVIDERS.iter_calc(list(values), some, scored):
            values[metric.measure][metric.query_id] = float(metric.value)
    per_query = {
        name: {query_id: values[measure].get(query_id, 0.0) for query_id in judged}
        for name, measure in asked.items()
    }
    return Scores(
        means={name: _aggregate(asked[name], per_query[name]) for name in asked},
        per_query=per_query,
        missing=tuple(query_id for query_id in judged if query_id not in answered),
        without_relevant=tuple(query_id for query_id in qrels if query_id not in relevant),
        unjudged=tuple(query_id for query_id in run if query_id not in qrels),
    )


def without_ties(ranking: Sequence[tuple[str, float]], depth: int | None = None) -> dict[str, float]:
    """Return the scores of the first `depth` ids, best first, in the order of trec_eval, without ties.

    trec_eval sorts by score in single precision, then by id, both descending.
    """
    with np.errstate(over="ignore"):
        scores = np.array([score for _, score in ranking], dtype=np.float32)
    if bool((scores[1:] < scores[:-1]).all()):
        return dict(ranking[:depth])
    pairs = zip(scores.tolist(), (found for found, _ in ranking), strict=True)
    ordered = sorted(pairs, reverse=True)[:depth]
    return {found: float(-place) for place, (_, found) in enumerate(ordered)}


def _batches(judged: Qrels) -> Iterator[Qrels]:
    rest = iter(judged.items())
    while some := dict(islice(rest, TOGETHER)):
        yield some


def _depth(measures: Iterable[Any]) -> int | None:
    """Return the number of first ids that determine all measures; None for whole rankings."""
    deepest = 0
    for measure in measures:
        cutoff = measure.params.get("cutoff")
        if cutoff is None or measure.NAME not in CUT or measure.params.get("judged_only"):
            return None
        deepest = max(deepest, cutoff)
    return deepest


def parse_measures(measures: str | Iterable[str]) -> dict[str, ir_measures.Measure]:
    """Parse measures, separated by white space or commas, as {given name: measure}.

    Raises:
        BadMeasure: no measure is given, or one is unknown or cannot be computed here.
    """
    names = NAME.findall(measures) if isinstance(measures, str) else list(measures)
    if not names:
        raise BadMeasure(f"no measure is given; examples: {EXAMPLES}, …")
    return {name: _parse(name) for name in names}


def _parse(name: str) -> Any:
    try:
        measure: Any = ir_measures.parse_measure(name)
        measure.validate_params()
    except (NameError, ValueError, AssertionError, KeyError, TypeError):
        raise BadMeasure(
            f"{name!r} is not a measure, or lacks a cutoff, or has a wrong parameter; examples: {EXAMPLES}, …"
        ) from None
    for key, value in measure.params.items():  # trec_eval exits the process at a cutoff of 0
        numbers = value.values() if isinstance(value, dict) else (value,)
        for number in numbers if key != "judged_only" else ():
            if isinstance(number, bool) or (isinstance(number, int) and not 1 <= number <= LARGEST_PARAMETER):
                raise BadMeasure(f"{name!r}: {key} must be between 1 and {LARGEST_PARAMETER:,}")
    if not PROVIDERS.supports(measure):
        raise BadMeasure(f"{name!r} cannot be computed with the installed libraries; examples: {EXAMPLES}, …")
    return measure


def _aggregate(measure: ir_measures.Measure, values: Mapping[str, float]) -> float:
    aggregator = measure.aggregator()  # the mean, except for counts such as NumRet
    for value in values.values():
        aggregator.add(value)
    return float(aggregator.result())
