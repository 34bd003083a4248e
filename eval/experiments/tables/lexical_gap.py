"""The lexical gap: topics whose relevant documents contain no word of the question, and ways to find them.

SHRAG, section 6, names the gap as a limitation: retrieval fails if no keyword is in the text. A topic is in
the gap if no relevant document contains a word of its question, after analysis; question words and words of
any paper (effect, 이후) do not count. The first row searches for the question's words alone. The others are
the formula with counterparts of the glossary, with terms of the best passages (feedback), with the second
search, and with recorded strategies (--strategies) or those of the language model; the paper's ten queries
with either; and vectors if the index has them.

The table counts the topics with a relevant document among the first k. Topics outside the gap show what a
way costs there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from eval.experiments.calls import Documents, StrategyCall
from eval.experiments.comparing import (
    ROWS,
    TESTED,
    Column,
    compared,
    main_numbers,
    mean,
    percent,
    rows_of,
    total,
    wilson_columns,
)
from eval.experiments.experiment import Experiment, Outcome, Record, SampleRun, TopicResult
from eval.experiments.materials import Materials
from eval.experiments.retrieving import ids_of, ranked_by, runs_by_row, strategy_of
from indexer.analysis.word_roles import is_common
from indexer.corpora.papers import language_of
from retriever.queries.boolean import And, Exact, or_query
from retriever.queries.filters import Filters
from retriever.query_plan import NEAREST
from retriever.question import analyse_question
from retriever.request import SearchRequest
from retriever.settings import OrderPart


async def documents_with_a_word(
    materials: Materials, question: str, documents: Collection[str]
) -> frozenset[str]:
    """Return the documents whose title or text contains a word of the question's subject.

    Words that any paper may contain do not count.
    """
    analysed = analyse_question(materials.index, question, synonyms=False)
    words = [
        word.term()
        for word in analysed.words()
        if not all(is_common(word.text, token) for token in word.tokens)
    ]
    if not words or not documents:
        return frozenset()
    wanted = Exact("doc_id" if materials.collapses else "passage_id", tuple(sorted(documents)))
    query = And((or_query(words), wanted))
    [hits] = await materials.index.engine.search(
        [(query, len(documents))], filters=Filters(), collapse=materials.collapses
    )
    return frozenset(map(materials.id_of, hits))


async def in_own_language(materials: Materials, question: str, relevant: Collection[str]) -> bool:
    """Check whether a relevant document is in the language of the question."""
    passages, papers = await materials.index.engine.records(relevant, relevant)
    found = papers if materials.collapses else passages
    return any(passage.lang == language_of(question) for passage in found.values())


@dataclass(frozen=True, slots=True)
class Way:
    """A row of the table: the method, the parts of its formula that are left out, and what it requires."""

    method: str = "shrag"
    without: frozenset[OrderPart] = frozenset()
    needs_strategy: bool = False
    needs_vectors: bool = False


WORDS = "words of the question"
GLOSSARY, FEEDBACK, ALL = "formula with the glossary", "and feedback", "and second search"
STRATEGIES = "formula with strategies"
WAYS: Mapping[str, Way] = {
    WORDS: Way("or"),
    GLOSSARY: Way(without=frozenset({"feedback", "second-search"})),
    FEEDBACK: Way(without=frozenset({"second-search"})),
    ALL: Way(),
    STRATEGIES: Way(needs_strategy=True),
    "ten queries, statistics": Way("paper"),
    "ten queries, strategies": Way("paper", needs_strategy=True),
    "vectors": Way("dense", needs_vectors=True),
    "formula and vectors": Way(needs_vectors=True),
}


class LexicalGap(StrategyCall):
    """How many documents."""

    k: Documents = 10


async def gap_of_topic(call: LexicalGap, materials: Materials, query_id: str, question: str) -> TopicResult:
    """Check whether a topic is in the gap, and retrieve its documents in each way."""
    relevant, usable = materials.relevant(query_id), materials.index.vectors.usable
    strategy = await strategy_of(materials, query_id, question)
    in_gap = not await documents_with_a_word(materials, question, relevant)
    rankings = {}
    for name, way in WAYS.items():
        if (way.needs_strategy and strategy is None) or (way.needs_vectors and not usable):
            continue
        skip = (NEAREST,) if usable and way.method == "shrag" and not way.needs_vectors else ()
        given = strategy if way.needs_strategy else None
        request = SearchRequest(question, method=way.method, k=call.k, strategy=given, skip=skip)
        settings = materials.settings.retriever
        settings = settings.model_copy(update={"without": settings.without | way.without})
        rankings[name] = await ranked_by(materials, request, settings)
    found = {name: not relevant.isdisjoint(ids_of(ranking)) for name, ranking in rankings.items()}
    record = {
        "in gap": in_gap,
        "own language": await in_own_language(materials, question, relevant),
        ROWS: {name: {"found": each, "in gap": in_gap} for name, each in found.items()},
    }
    return TopicResult(record, runs_by_row(rankings))


def _of_gap(column: Column, *, outside: bool = False) -> Column:
    """Return a column over the topics of the gap, or over the others; None without any."""

    def of(records: Sequence[Record]) -> str | int | float | None:
        chosen = [record for record in records if record["in gap"] != outside]
        return column(chosen) if chosen else None

    return of


def summary(call: LexicalGap, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Count the topics in the gap, and the topics for which each way finds a relevant document."""
    groups = {
        "all": topics,
        "documents in the question's language": [topic for topic in topics if topic["own language"]],
        "documents in another language only": [topic for topic in topics if not topic["own language"]],
    }
    gap_columns: dict[str, Column] = {
        "number": len,
        "in the gap": total("in gap"),
        "%": percent(lambda topic: topic["in gap"]),
        **wilson_columns(lambda topic: topic["in gap"]),
    }
    bounds = wilson_columns(lambda record: record["found"])
    found = percent(lambda record: record["found"])
    columns = {
        "recovered": _of_gap(total("found")),
        "% of the gap": _of_gap(found),
        **{name: _of_gap(column) for name, column in bounds.items()},
        "% of the others": _of_gap(found, outside=True),
    }
    usable = materials.index.vectors.usable
    rows = rows_of(topics, [name for name, way in WAYS.items() if usable or not way.needs_vectors])
    tables = (
        compared(
            "Topics without a relevant document that contains a word of the question",
            "topics",
            {name: of for name, of in groups.items() if of},
            gap_columns,
        ),
        compared(
            f"Topics with a relevant document among the first {call.k}",
            "way",
            rows,
            columns,
            lambda record: record["found"],
            "difference, all topics",
        ),
    )
    notes = (
        f"Differences are to the first row, {WORDS}; {TESTED}",
        "The other rows of the formula are without the nearest passages."
        if usable
        else "The index has no vectors.",
    )
    in_gap = sum(topic["in gap"] for topic in topics)
    main = {"topics in the gap": float(in_gap), "share in the gap": in_gap / len(topics)}
    return Outcome(tables, notes=notes, main=main | main_numbers(rows, {"recovered": _of_gap(mean("found"))}))


EXPERIMENT = Experiment(
    LexicalGap,
    gap_of_topic,
    summary,
    shown=(
        *("topics in the gap", "share in the gap"),
        *(f"recovered, {name}" for name in (WORDS, GLOSSARY, FEEDBACK, ALL, STRATEGIES)),
    ),
    sample=SampleRun("held-out", "held-out/papers.jsonl"),
)
