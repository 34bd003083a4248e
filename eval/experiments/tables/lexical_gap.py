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
from statistics import fmean

from eval.experiments.experiment import (
    NEEDS_MODEL,
    Cell,
    Documents,
    Experiment,
    Outcome,
    Record,
    SampleRun,
    StrategyCall,
    Table,
    TopicResult,
)
from eval.experiments.materials import Materials
from eval.experiments.retrieving import ranked_by, relevant_in, run_name, strategy_of
from eval.significance import NONE, difference_cells, difference_columns
from eval.statistics import wilson
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


async def compared_languages(materials: Materials, question: str, relevant: Collection[str]) -> str:
    """Return "same" if a relevant document is in the language of the question, else "other"."""
    passages, papers = await materials.index.engine.records(relevant, relevant)
    found = papers if materials.collapses else passages
    own = language_of(question)
    return "same" if any(passage.lang == own for passage in found.values()) else "other"


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
TEN, TEN_STRATEGIES = "ten queries, statistics", "ten queries, strategies"
VECTORS, WHOLE = "vectors", "formula and vectors"
WAYS: Mapping[str, Way] = {
    WORDS: Way("or"),
    GLOSSARY: Way(without=frozenset({"feedback", "second-search"})),
    FEEDBACK: Way(without=frozenset({"second-search"})),
    ALL: Way(),
    STRATEGIES: Way(needs_strategy=True),
    TEN: Way("paper"),
    TEN_STRATEGIES: Way("paper", needs_strategy=True),
    VECTORS: Way("dense", needs_vectors=True),
    WHOLE: Way(needs_vectors=True),
}


class LexicalGap(StrategyCall):
    """How many documents."""

    k: Documents = 10


async def gap_of_topic(call: LexicalGap, materials: Materials, query_id: str, question: str) -> TopicResult:
    """Check whether a topic is in the gap, and retrieve its documents in each way."""
    relevant, usable = materials.relevant(query_id), materials.index.vectors.usable
    strategy = await strategy_of(materials, query_id, question)
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
    sharing = await documents_with_a_word(materials, question, relevant)
    return TopicResult(
        {
            "languages": await compared_languages(materials, question, relevant),
            "relevant": len(relevant),
            "sharing": len(sharing),
            "found": {name: relevant_in(ranking, relevant) for name, ranking in rankings.items()},
        },
        {run_name(name): ranking for name, ranking in rankings.items()},
    )


def summary(call: LexicalGap, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Count the topics in the gap, and the topics for which each way finds a relevant document."""
    in_gap = [topic for topic in topics if not topic["sharing"]]
    outside = [topic for topic in topics if topic["sharing"]]
    usable = materials.index.vectors.usable
    names = [name for name, way in WAYS.items() if usable or not way.needs_vectors]
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
            f"Differences are to the first row, {WORDS}; p: paired randomisation test.",
            *_notes(materials),
            *materials.notes(),
        ),
        main={
            "topics in the gap": float(len(in_gap)),
            "share in the gap": len(in_gap) / len(topics),
            **{
                f"recovered, {name}": _share(name, in_gap)
                for name in names
                if in_gap and name in topics[0]["found"]
            },
        },
    )


def _notes(materials: Materials) -> tuple[str, ...]:
    if materials.index.vectors.usable:
        return ("The other rows of the formula are without the nearest passages.",)
    return ("The index has no vectors.",)


def _gap_row(name: str, topics: Sequence[Record]) -> tuple[Cell, ...]:
    count = sum(not topic["sharing"] for topic in topics)
    low, high = wilson(count, len(topics))
    return name, len(topics), count, 100 * count / len(topics), 100 * low, 100 * high


def _way_row(
    name: str, topics: Sequence[Record], in_gap: Sequence[Record], outside: Sequence[Record]
) -> tuple[Cell, ...]:
    if any(name not in topic["found"] for topic in topics):
        return (name, len(in_gap), NEEDS_MODEL, *(None,) * 4, *NONE)
    found = sum(topic["found"][name] > 0 for topic in in_gap)
    bounds = [100 * each for each in wilson(found, len(in_gap))] if in_gap else (None, None)
    return (
        name,
        len(in_gap),
        found,
        100 * found / len(in_gap) if in_gap else None,
        *bounds,
        100 * _share(name, outside) if outside else None,
        *difference_cells(lambda way: _successes(way, topics), name, WORDS),
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
        *(f"recovered, {name}" for name in (WORDS, GLOSSARY, FEEDBACK, ALL, STRATEGIES)),
    ),
    sample=SampleRun("held-out", "held-out/papers.jsonl"),
)
