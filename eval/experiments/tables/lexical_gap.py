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
from typing import NamedTuple

from eval.experiments import comparing
from eval.experiments.comparing import Column, Comparison, Outcome, mean, percent, total, wilson_columns
from eval.experiments.experiment import Experiment, Results, SampleRun, Topic, TopicResult, ids_of, result_of
from eval.experiments.materials import StrategyCall, documents
from eval.runs import Ranking
from indexer.analysis.word_roles import is_common
from indexer.corpora.papers import language_of
from retriever.queries.boolean import And, Exact, or_query
from retriever.queries.filters import Filters
from retriever.query_plan import NEAREST
from retriever.question import analyse_question
from retriever.settings import OrderPart


async def documents_with_a_word(topic: Topic, documents: Collection[str]) -> frozenset[str]:
    """Return the documents whose title or text contains a word of the question's subject.

    Words that any paper may contain do not count.
    """
    materials = topic.materials
    analysed = analyse_question(materials.index, topic.question, synonyms=False)
    words = [
        word.term()
        for word in analysed.words()
        if not all(is_common(word.text, token) for token in word.tokens)
    ]
    if not words or not documents:
        return frozenset()
    wanted = Exact("doc_id" if materials.collapses else "passage_id", tuple(sorted(documents)))
    query = And((or_query(words), wanted))
    asked = [(query, len(documents))]
    [hits] = await materials.index.run(
        lambda index: index.engine.search(asked, filters=Filters(), collapse=materials.collapses)
    )
    return frozenset(map(materials.id_of, hits))


class Way(NamedTuple):
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

    k: int = documents(10)


async def gap_of_topic(topic: Topic) -> TopicResult:
    """Check whether a topic is in the gap, and retrieve its documents in each way."""
    relevant, usable = topic.relevant, topic.materials.index.vectors.usable
    strategy, settings = await topic.strategy(), topic.settings
    in_gap = not await documents_with_a_word(topic, relevant)
    rankings = dict[str, Ranking]()
    for name, way in WAYS.items():
        if (way.needs_strategy and strategy is None) or (way.needs_vectors and not usable):
            continue
        skip = (NEAREST,) if usable and way.method == "shrag" and not way.needs_vectors else ()
        asked = strategy if way.needs_strategy else None
        less = settings.model_copy(update={"without": settings.without | way.without})
        rankings[name] = (
            await topic.search(less, method=way.method, k=topic.call.k, strategy=asked, skip=skip)
        ).ranking
    found = {name: not relevant.isdisjoint(ids_of(of)) for name, of in rankings.items()}
    rows = {name: {"found": is_found, "in gap": in_gap} for name, is_found in found.items()}
    passages, papers = await topic.materials.index.run(lambda index: index.engine.records(relevant, relevant))
    documents = (papers if topic.materials.collapses else passages).values()
    own = any(document.lang == language_of(topic.question) for document in documents)
    return result_of(rows, rankings, **{"in gap": in_gap, "own language": own})


def _of_gap(column: Column, *, outside: bool = False) -> Column:
    """Return a column over the topics of the gap, or over the others; None without any."""

    def of(records: Sequence[comparing.Record]) -> str | int | float | None:
        chosen = [record for record in records if record["in gap"] != outside]
        return column(chosen) if chosen else None

    return of


GAP: Mapping[str, Column] = {
    "number": len,
    "in the gap": total("in gap"),
    "%": percent("in gap"),
    **wilson_columns("in gap"),
}
RECOVERED: Mapping[str, Column] = {
    "recovered": _of_gap(total("found")),
    "% of the gap": _of_gap(percent("found")),
    **{name: _of_gap(column) for name, column in wilson_columns("found").items()},
    "% of the others": _of_gap(percent("found"), outside=True),
}


def summary(of: Results) -> Outcome:
    """Count the topics in the gap, and the topics for which each way finds a relevant document."""
    groups = {
        "all": of.topics,
        "documents in the question's language": [each for each in of.topics if each["own language"]],
        "documents in another language only": [each for each in of.topics if not each["own language"]],
    }
    known = {name: topics for name, topics in groups.items() if topics}
    usable = of.materials.index.vectors.usable
    rows = of.rows([name for name, way in WAYS.items() if usable or not way.needs_vectors])
    gap = "Topics without a relevant document that contains a word of the question"
    ways = f"Topics with a relevant document among the first {of.call.k}"
    main = {"recovered": _of_gap(mean("found"))}
    tables = (
        Comparison(gap, "topics", GAP).table(known),
        Comparison(ways, "way", RECOVERED, "found", "difference, all topics", main=main).table(rows),
    )
    nearest = "The other rows of the formula are without the nearest passages."
    notes = (
        f"Differences are to the first row, {WORDS}; {comparing.TESTED}",
        nearest if usable else "The index has no vectors.",
    )
    in_gap = of.count(lambda topic: topic["in gap"])
    share = {"topics in the gap": float(in_gap), "share in the gap": in_gap / len(of.topics)}
    return Outcome(tables, notes=notes, numbers=share)


EXPERIMENT = Experiment(
    LexicalGap,
    gap_of_topic,
    summary,
    sample=SampleRun("held-out", "held-out/papers.jsonl"),
)
