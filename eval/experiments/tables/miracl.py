"""MIRACL in full: all methods of searching on all passages of Wikipedia, compared with published values.

SHRAG samples 50 topics of MIRACL and reports whether a relevant document was found. Here every method ranks
passages for all topics of a split in the complete corpus, by passage as MIRACL judges them, and by article,
which is relevant if one of its passages is. Corpus, topics and qrels are read from a folder in MIRACL's
layout, or downloaded from the Hugging Face hub. The index is built on first use, and used again for the same
corpus. Vectors are encoded if an encoder is configured; then the method dense is measured too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from base.calls import Flag, Section
from base.terminal.progress_bar import progress_bar
from eval.experiments.comparing import TESTED, Comparison, Outcome, mean
from eval.experiments.experiment import Experiment, Results, Topic, TopicResult
from eval.experiments.materials import (
    FILE,
    ExperimentCall,
    Inputs,
    JudgedCall,
    option,
    read_judged,
    strategies,
)
from eval.experiments.miracl_files import PASSAGES, MiraclFiles, find_files
from eval.measures import score
from eval.runs import Ranking, as_written
from eval.units import grades_of_papers
from generator.pipeline import Settings
from indexer.ingest import IngestRequest, build_index, encode_passages
from indexer.options import interruptible
from indexer.versions.store.engines import index_names
from retriever.index import SearchIndex
from retriever.methods import method_named, method_names
from retriever.search import SearchRequest, rank

PLACE = Flag(section=Section.PLACE)
HASH_CHARACTERS = 12
HITS = 100  # of a ranking, as in the published runs
NDCG, RECALL = MEASURES = ("nDCG@10", "R@100")
BASELINE, DENSE = "or", "dense"
PASSAGE, ARTICLE = UNITS = ("passage", "article")

ANSERINI = "github.com/castorini/anserini"
MTEB = "github.com/embeddings-benchmark/results, gte-multilingual-base, MIRACLRetrieval"
# (system, nDCG@10, R@100, source) on the development set, by language.
PUBLISHED: Mapping[str, tuple[tuple[str, float, float, str], ...]] = {
    "ko": (
        ("BM25, nori", 0.4533, 0.8579, f"{ANSERINI}, pull request 2174"),
        ("BM25, bigrams", 0.4190, 0.7831, f"{ANSERINI}, regression miracl-v1.0-ko"),
        ("mGTE, dense", 0.6270, 0.8942, MTEB),
    ),
    "en": (
        ("BM25", 0.3506, 0.8190, f"{ANSERINI}, regression miracl-v1.0-en"),
        ("mGTE, dense", 0.5414, 0.8895, MTEB),
    ),
}


class Miracl(ExperimentCall):
    """The language and the files."""

    lang: Literal["ko", "en"] = option("Language of corpus and topics.", flag=PLACE)
    split: Literal["dev", "train"] = option(
        "Topics and judgements; the published values are for dev.", "dev", PLACE
    )
    corpus: str | None = option(
        "Folder of miracl-corpus-v1.0-LANG and miracl-v1.0-LANG. Default: the hub's.",
        None,
        replace(PLACE, metavar="FOLDER"),
    )
    topics: str | None = option("Topics that replace the data set's.", None, FILE)
    qrels: str | None = option("Judgements that replace the data set's.", None, FILE)
    strategies: str | None = strategies()


def read(call: Miracl, settings: Settings) -> Inputs:
    """Find the files, and build the index unless there is one."""
    files = find_files(call.lang, call.split, folder=call.corpus, topics=call.topics, qrels=call.qrels)
    given = JudgedCall.of(topics=str(files.topics), qrels=str(files.qrels))
    return replace(read_judged(given), index_name=made_index(call.lang, files, settings), by_id=False)


def made_index(language: str, files: MiraclFiles, settings: Settings) -> str:
    """Build the index of the corpus unless there is one, with vectors if an encoder is configured.

    Returns its name, such as miracl-ko-7f0c2f1b9a3e. It contains the hash of the corpus, so that an index
    with the name has the same input. The same command resumes an interrupted build. Raises as `build_index`
    and `encode_passages`.
    """
    name, places = f"miracl-{language}-{files.digest()[:HASH_CHARACTERS]}", settings.indexer
    with progress_bar() as progress, interruptible():
        if name not in index_names(places):
            build_index(IngestRequest(name, list(map(str, files.corpus)), format="miracl"), places, progress)
        elif places.encoder.provider != "none":
            encode_passages(name, places, progress)
    return name


def _notes(call: Miracl, index: SearchIndex) -> Iterator[str]:
    manifest, complete = index.manifest, PASSAGES[call.lang]
    if manifest.passages != complete:
        yield (
            f"The corpus has {manifest.passages:,} passages, MIRACL's {complete:,}: "
            "the published values are for another corpus."
        )
    if refused := manifest.counts.get("dead_letters", 0):
        yield f"{refused:,} records of the corpus could not be read."
    vectors = manifest.vector_fingerprint if index.vectors.usable else None
    yield f"Vectors: {vectors.model}." if vectors else f"Without vectors; the method {DENSE} needs them."


def methods_of(index: SearchIndex) -> tuple[str, ...]:
    """Return the methods that rank questions in an index, the baseline first; `dense` needs vectors."""
    named = [name for name in method_names() if not method_named(name).is_expression]
    usable = [name for name in named if name != DENSE or index.vectors.usable]
    return tuple(sorted(usable, key=lambda name: name != BASELINE))


async def scores_of_topic(topic: Topic) -> TopicResult:
    """Rank passages and articles by each method, and score the rankings."""
    strategy, passages = await topic.strategy(), topic.materials.qrels[topic.query_id]
    grades = {PASSAGE: passages, ARTICLE: grades_of_papers(passages)}
    rankings: dict[str, Ranking] = {}
    scores: dict[str, dict[str, dict[str, float]]] = {unit: {} for unit in UNITS}
    for method in methods_of(topic.materials.index):
        given = strategy if method_named(method).uses_strategy else None
        request = SearchRequest(topic.question, method=method, k=HITS, strategy=given)
        for unit, judged in grades.items():
            asked = replace(request, collapse=unit == ARTICLE)
            ranking = as_written((await rank(topic.materials.index, asked, topic.settings)).hits)
            rankings[method if unit == PASSAGE else f"{method}-articles"] = ranking
            scores[unit][method] = score({topic.query_id: judged}, {topic.query_id: ranking}, MEASURES)
    relevant = {unit: sum(grade > 0 for grade in judged.values()) for unit, judged in grades.items()}
    return TopicResult({"relevant": relevant, **scores}, rankings)


def summary(of: Results) -> Outcome:
    """Average the scores of each method, with the published ones below."""
    call, methods = of.call, methods_of(of.materials.index)
    columns = {measure: mean(measure) for measure in MEASURES}
    by_unit = Comparison("", "method", columns, NDCG, f"difference of {NDCG}")
    by_passage = replace(
        by_unit,
        main={f"{measure}, {call.lang}": column for measure, column in columns.items()},
        published={f"{system} on dev ({place})": values for system, *values, place in PUBLISHED[call.lang]},
        measures=MEASURES,
    )
    title = f"MIRACL, {call.lang}, {call.split}, by {{}}, {len(of.topics):,} topics"
    tables = (
        replace(table, title=title.format(unit)).table(of.rows(methods, unit))
        for unit, table in zip(UNITS, (by_passage, by_unit), strict=True)
    )
    notes = (*_notes(call, of.materials.index), f"Differences are to the method {BASELINE}; {TESTED}")
    return Outcome(tuple(tables), notes=notes)


EXPERIMENT = Experiment(
    Miracl,
    scores_of_topic,
    summary,
    read,
    published={
        f"{measure}, {language}, {method}": value
        for language, rows in PUBLISHED.items()
        for method, row in ((BASELINE, rows[0]), (DENSE, rows[-1]))
        for measure, value in zip(MEASURES, row[1:3], strict=True)
    },
    sample=None,
)
