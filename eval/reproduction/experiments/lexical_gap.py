"""The lexical gap: topics whose relevant documents contain no word of the question, and ways to find them.

SHRAG, section 6, names the gap as a limitation: retrieval fails if no keyword is in the text. A topic is in
the gap if no relevant document contains a word of its question, after analysis; question words and words of
any paper (effect, 이후) do not count. Each row is a way to find such documents: the glossary (pairs of the
index, general pairs and synonyms), other word forms, terms of the best passages (feedback), bridges of the
second search, all parts of the default order, vectors if the index has them, and the keywords of statistics
or of the language model in the paper's ten queries. The first row searches for the question's words alone.

The table counts the topics with a relevant document among the first k. Topics outside the gap show what a
way costs there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from eval.reproduction.differences import difference_cells, difference_columns
from eval.reproduction.experiment import (
    Cell,
    Documents,
    Experiment,
    JudgedCall,
    Outcome,
    Record,
    SampleRun,
    Table,
    TopicResult,
)
from eval.reproduction.materials import Materials
from eval.reproduction.retrieving import open_topic, ranking_of, relevant_in, retrieve, run_name
from eval.reproduction.shared_words import compared_languages, documents_with_a_word
from eval.runs import Ranking
from eval.significance import wilson
from retriever.keywords.choice import KeywordChoice
from retriever.query_plan import NEAREST
from retriever.question.analysis import AnalysedQuestion
from retriever.search import SearchRequest, open_ranking, run_stages
from retriever.settings import OrderPart
from retriever.stages.stages import computed

METHOD, BY_VECTORS = "shrag", "dense"
# Parts of the default order that find or score documents by words that are not in the question.
EXPANSIONS: frozenset[OrderPart] = frozenset(
    {"counterparts", "word-forms", "feedback", "second-search", "other-language"}
)


@dataclass(frozen=True, slots=True)
class Way:
    """A row of the table: the expansions that it uses; without `pairs`, the question's own words alone."""

    name: str
    parts: frozenset[OrderPart] = frozenset()
    pairs: bool = False


WORDS = Way("words of the question")
WAYS = (
    WORDS,
    Way("glossary", frozenset({"counterparts"}), pairs=True),
    Way("glossary and word forms", frozenset({"counterparts", "word-forms"}), pairs=True),
    Way("feedback", frozenset({"feedback"})),
    Way("second search", frozenset({"second-search"})),
    Way("all parts of the order", EXPANSIONS, pairs=True),
)
VECTORS, WHOLE = "vectors", "all parts and vectors"
STATISTICS, MODEL = "ten queries, keywords of statistics", "ten queries, keywords of the model"


class LexicalGap(JudgedCall):
    """How many documents."""

    k: Documents = 10


async def gap_of_topic(call: LexicalGap, materials: Materials, query_id: str, question: str) -> TopicResult:
    """Check whether a topic is in the gap, and retrieve its documents in each way."""
    relevant = materials.relevant(query_id)
    context = open_ranking(materials.index, _request(call, materials, question), _settings(materials, WORDS))
    analysed = computed((await run_stages(context, upto="question")).question)
    rankings = {way.name: await _ranking(call, materials, question, way) for way in WAYS}
    if materials.index.vectors.usable:
        settings = materials.settings.retriever
        for name, method in ((VECTORS, BY_VECTORS), (WHOLE, METHOD)):
            asked = SearchRequest(question, method=method, k=call.k, collapse=materials.collapses)
            stages = await run_stages(open_ranking(materials.index, asked, settings))
            rankings[name] = ranking_of(stages, materials, call.k)
    without_model = replace(materials, model=None)
    topics = {STATISTICS: without_model} | ({MODEL: materials} if materials.model else {})
    for name, chosen_by in topics.items():
        rankings[name] = (await retrieve(await open_topic(question, call.k, chosen_by), materials)).ranking
    sharing = await documents_with_a_word(materials, analysed, relevant)
    return TopicResult(
        {
            "languages": await compared_languages(materials, question, relevant),
            "relevant": len(relevant),
            "sharing": len(sharing),
            "found": {name: relevant_in(ranking, relevant) for name, ranking in rankings.items()},
        },
        {run_name(name): ranking for name, ranking in rankings.items()},
    )


def _request(call: LexicalGap, materials: Materials, question: str) -> SearchRequest:
    skip = (NEAREST,) if materials.index.vectors.usable else ()
    return SearchRequest(question, method=METHOD, k=call.k, collapse=materials.collapses, skip=skip)


def _settings(materials: Materials, way: Way) -> Any:
    settings = materials.settings.retriever
    return settings.model_copy(update={"without": settings.without | (EXPANSIONS - way.parts)})


async def _ranking(call: LexicalGap, materials: Materials, question: str, way: Way) -> Ranking:
    """Rank by the default method with some of its parts."""
    request = _request(call, materials, question)
    context = open_ranking(materials.index, request, _settings(materials, way))
    stages = await run_stages(context, upto="question")
    if not way.pairs:
        stages = replace(stages, question=replace(computed(stages.question), synonyms=()))
    stages = await run_stages(context, stages, upto="keywords")
    if not way.pairs and stages.keywords:
        own = own_keywords(stages.keywords, computed(stages.question))
        stages = stages.with_keywords(replace(stages.keywords, keywords=own))
    return ranking_of(await run_stages(context, stages), materials, call.k)


def own_keywords(chosen: KeywordChoice, question: AnalysedQuestion) -> tuple[Any, ...]:
    """Return the keywords that are words of the question, or near spellings of them."""
    own = {token[0] for token in question.tokens} | {near for of in chosen.spellings.values() for near in of}
    return tuple(keyword for keyword in chosen.keywords if own.issuperset(keyword.tokens))


def summary(call: LexicalGap, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Count the topics in the gap, and the topics for which each way finds a relevant document."""
    in_gap = [topic for topic in topics if not topic["sharing"]]
    outside = [topic for topic in topics if topic["sharing"]]
    names = list(topics[0]["found"])
    groups = {
        "all": topics,
        "documents in the question's language": [t for t in topics if t["languages"] == "same"],
        "documents in another language only": [t for t in topics if t["languages"] == "other"],
    }
    return Outcome(
        (
            Table(
                "Topics without a relevant document that contains a word of the question",
                ("topics", "number", "in the gap", "%", "95 % from", "to"),
                tuple(_gap_row(name, of) for name, of in groups.items() if of),
            ),
            Table(
                f"Topics with a relevant document among the first {call.k}",
                (
                    *("way", "of the gap", "recovered", "% of the gap", "95 % from", "to"),
                    *("% of the others", *difference_columns("difference, all topics")),
                ),
                tuple(_way_row(name, topics, in_gap, outside) for name in names),
            ),
        ),
        notes=(
            f"Differences are to the first row, {WORDS.name}; p: paired randomisation test.",
            *_notes(materials),
            *materials.notes(),
        ),
        main={
            "topics in the gap": float(len(in_gap)),
            "share in the gap": len(in_gap) / len(topics),
            **{f"recovered, {name}": _share(name, in_gap) for name in names if in_gap},
        },
    )


def _notes(materials: Materials) -> tuple[str, ...]:
    if materials.index.vectors.usable:
        return ("Rows of the default order are without the nearest passages; cosines order the candidates.",)
    return ("The index has no vectors.",)


def _gap_row(name: str, topics: Sequence[Record]) -> tuple[Cell, ...]:
    count = sum(not topic["sharing"] for topic in topics)
    low, high = wilson(count, len(topics))
    return name, len(topics), count, 100 * count / len(topics), 100 * low, 100 * high


def _way_row(
    name: str, topics: Sequence[Record], in_gap: Sequence[Record], outside: Sequence[Record]
) -> tuple[Cell, ...]:
    found = sum(topic["found"][name] > 0 for topic in in_gap)
    bounds = [100 * each for each in wilson(found, len(in_gap))] if in_gap else (None, None)
    return (
        name,
        len(in_gap),
        found,
        100 * found / len(in_gap) if in_gap else None,
        *bounds,
        100 * _share(name, outside) if outside else None,
        *difference_cells(lambda way: _successes(way, topics), name, WORDS.name),
    )


def _successes(name: str, topics: Sequence[Record]) -> list[float]:
    return [float(topic["found"][name] > 0) for topic in topics]


def _share(name: str, topics: Sequence[Record]) -> float:
    return fmean(_successes(name, topics))


EXPERIMENT = Experiment(
    "Lexical gap",
    "SHRAG, section 6",
    LexicalGap,
    gap_of_topic,
    summary,
    shown=(
        *("topics in the gap", "share in the gap"),
        *(f"recovered, {name}" for name in (WORDS.name, WAYS[1].name, "feedback", WAYS[-1].name, STATISTICS)),
    ),
    sample=SampleRun(
        "held-out/papers.jsonl",
        "held-out",
        {"topics": "held-out/topics.jsonl", "qrels": "held-out/qrels.txt"},
    ),
)
