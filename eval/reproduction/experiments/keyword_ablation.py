"""Keywords and queries: how many keywords, of which language, in which order, and ten queries against one.

Section 3 of SHRAG names these choices without a table: at most ten keywords in the order of importance, of
both languages, in ten queries whose results are joined. Each row changes one choice. Without a language model
the keywords come from statistics; importance is TF-IDF, or the entropy of equation 2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Annotated

from pydantic import Field

from base.calls import Flag, Section
from eval.reproduction.experiment import Cell, Experiment, JudgedCall, Outcome, Record, Table, TopicResult
from eval.reproduction.materials import Materials
from eval.reproduction.retrieving import ChangeKeywords, ChangePlan, open_topic, retrieve
from eval.runs import Ranking
from eval.significance import compare
from retriever.query_plan import QueryPlan
from retriever.settings import KeywordRanking

MOST = 100  # documents of a single query


class KeywordAblation(JudgedCall):
    """How many documents."""

    k: Annotated[
        int, Flag("-k", section=Section.LIMITS), Field(ge=1, le=100, description="Documents for each topic.")
    ] = 15


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of the table: the change to keywords, queries or importance."""

    name: str
    keywords: ChangeKeywords | None = None
    plan: ChangePlan | None = None
    importance: KeywordRanking | None = None


def _first(count: int) -> ChangeKeywords:
    return lambda keywords: keywords[:count]


def _of_language(language: str) -> ChangeKeywords:
    return lambda keywords: [keyword for keyword in keywords if keyword.language == language]


def _only_longest(hits: int) -> Callable[[QueryPlan], QueryPlan]:
    """Keep the query of all keywords, and let it return that many documents."""
    return lambda plan: QueryPlan(tuple(replace(named, k=hits) for named in plan.queries[:1]))


WHOLE = Variant("ten keywords, ten queries")
VARIANTS = (
    WHOLE,
    *(
        Variant(f"{count} keywords" if count > 1 else "1 keyword", _first(count))
        for count in (8, 6, 5, 4, 3, 2, 1)
    ),
    Variant("Korean keywords only", _of_language("ko")),
    Variant("English keywords only", _of_language("en")),
    Variant("importance by entropy", importance="entropy"),
    Variant("importance by TF-IDF", importance="tf-idf"),
    Variant("one query of all keywords, ten documents", plan=_only_longest(10)),
    Variant(f"one query of all keywords, {MOST} documents", plan=_only_longest(MOST)),
)


async def variants_of_topic(
    call: KeywordAblation, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Retrieve the documents of a topic in each variant."""
    relevant, variants = materials.relevant(query_id), {}
    usual = await open_topic(question, call.k, materials)
    rankings: dict[str, Ranking] = {}
    for variant in VARIANTS:
        topic = usual
        if variant.importance:
            settings = materials.settings.retriever.model_copy(update={"ranking": variant.importance})
            topic = await open_topic(question, call.k, materials, settings=settings)
        found = await retrieve(topic, materials, keywords=variant.keywords, plan=variant.plan)
        rankings[variant.name.replace(",", "").replace(" ", "-")] = found.ranking
        variants[variant.name] = {
            "found": len(relevant.intersection(each for each, _ in found.ranking)),
            "found_by_union": len(relevant & found.union),
            "union": len(found.union),
        }
    return TopicResult({"relevant": len(relevant), "variants": variants}, rankings)


def summary(call: KeywordAblation, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compare the variants with the first one."""
    table = Table(
        f"Variants of keywords and queries, {call.k} documents for each topic",
        (
            *("variant", "QSR", "share of relevant documents", "share found by the union", "mean union"),
            *("difference of the share", "95 %", "p", "better / same / worse"),
        ),
        tuple(_row(variant.name, topics) for variant in VARIANTS),
    )
    notes = ("Differences are to the first row; p: paired randomisation test.", *materials.notes())
    main = {f"share, {variant.name}": fmean(_shares(variant.name, topics, "found")) for variant in VARIANTS}
    return Outcome((table,), notes=notes, main=main)


def _row(name: str, topics: Sequence[Record]) -> tuple[Cell, ...]:
    shares = _shares(name, topics, "found")
    test = None if name == WHOLE.name else compare(_shares(WHOLE.name, topics, "found"), shares)
    return (
        name,
        100 * sum(share > 0 for share in shares) / len(topics),
        sum(shares) / len(topics),
        sum(_shares(name, topics, "found_by_union")) / len(topics),
        sum(topic["variants"][name]["union"] for topic in topics) / len(topics),
        *(test.as_cells() if test else (None,) * 4),
    )


def _shares(name: str, topics: Sequence[Record], part: str) -> list[float]:
    return [topic["variants"][name][part] / topic["relevant"] for topic in topics]


EXPERIMENT = Experiment(
    "Keyword ablation", "SHRAG, sections 3.1 and 3.2", KeywordAblation, variants_of_topic, summary
)
