"""Query success rate: the share of topics for which at least one relevant article is retrieved.

Table 1 of SHRAG, equation 6. The paper samples 25 Korean and 25 English topics of MIRACL, retrieves about 15
documents for each, and compares their titles: a topic succeeds by any passage of a relevant article. Here the
ten progressive queries collect at most ten documents each, as in the paper; their union is ordered by cosine
if the index has vectors, else by fusion, and cut. The keywords are recorded (--strategies), of the language
model, or of statistics.

`shrag experiment import miracl` joins both languages in one corpus. --source also searches a live Wikipedia,
or several, whose articles have the numbers of MIRACL's: each topic in the union of all sources.
"""

from collections.abc import Iterable, Mapping

from eval.experiments.comparing import Column, Comparison, Outcome, Record, mean, percent, wilson_columns
from eval.experiments.experiment import METHOD, Experiment, Results, Topic, TopicResult, ids_of
from eval.experiments.materials import StrategyCall, documents
from eval.places import Places
from eval.units import paper_of
from indexer.corpora.papers import language_of
from retriever.calls import SourceNames
from retriever.request import SearchRequest
from retriever.search import search
from retriever.strategy import Strategy

# Percent, by language of the topics.
PUBLISHED: Mapping[str, float] = {"QSR, Korean": 88, "QSR, English": 100, "QSR, both": 94}
QSR, BOTH = "QSR by article, %", "both"
LANGUAGES = {"Korean": ("ko",), "English": ("en", "other"), BOTH: ("ko", "en", "other")}


class QuerySuccess(StrategyCall):
    """The number of documents for each topic, and live sources."""

    k: int = documents(15)
    sources: SourceNames = ()


async def success_of_topic(topic: Topic) -> TopicResult:
    """Retrieve the documents of a topic, and compare them with the relevant ones."""
    relevant, strategy = topic.relevant, await topic.strategy()
    searched = await topic.search(k=topic.call.k, strategy=strategy)
    found, union, wanted = ids_of(searched.ranking), searched.union, articles(relevant)
    record = {
        "language": language_of(topic.question),
        "success": not wanted.isdisjoint(articles(found)),
        "success_by_passage": not relevant.isdisjoint(found),
        "success_of_union": not wanted.isdisjoint(articles(union)),
        "union": len(union),
    }
    if places := topic.materials.places:
        record["success_live"] = not wanted.isdisjoint(await _found_live(topic, strategy, places))
    return TopicResult(record, {"progressive": searched.ranking})


async def _found_live(topic: Topic, strategy: Strategy | None, places: Places) -> frozenset[str]:
    """Return the ids of the articles that sources have, with and without their language."""
    request = SearchRequest(topic.question, method=METHOD, k=topic.call.k, strategy=strategy)
    hits = (await search(places, request, topic.settings)).hits
    ids = [(hit.passage.lang, found["id"]) for hit in hits for found in hit.paper.get("found_in", ())]
    return frozenset(name for lang, number in ids for name in (number, f"{lang}:{number}"))


def articles(ids: Iterable[str]) -> frozenset[str]:
    """Return the ids of the articles or papers that passages belong to."""
    return frozenset(map(paper_of, ids))


def summary(of: Results) -> Outcome:
    """Count the topics with a relevant article, by language."""
    call, groups = of.call, dict[str, list[Record]]()
    for name, languages in LANGUAGES.items():
        if topics := [topic for topic in of.topics if topic["language"] in languages]:
            groups[name] = topics
    success = percent("success")
    columns: dict[str, Column] = {
        "number": len,
        QSR: success,
        **({"live sources": percent("success_live")} if of.materials.declared else {}),
        "by passage": percent("success_by_passage"),
        "union": percent("success_of_union"),
        **wilson_columns("success"),
        "mean union": mean("union"),
    }
    table = Comparison(
        f"Query success rate by article, {call.k} documents for each topic",
        "topics",
        columns,
        main={"QSR": success},
        published={name: (PUBLISHED[f"QSR, {name}"],) for name in groups},
        measures=(QSR,),
    )
    note = "Published: 25 + 25 topics of MIRACL, searched for in Wikipedia with a model's keywords."
    return Outcome((table.table(groups),), notes=(note,))


EXPERIMENT = Experiment(QuerySuccess, success_of_topic, summary, published=PUBLISHED)
