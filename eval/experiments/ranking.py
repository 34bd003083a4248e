"""How well the methods rank real collections: the table of methods.

    python -m eval.experiments.ranking --home DIR [--topics dev|train] [--json]

Each collection is indexed alone and with the others in one index, its ids prefixed there; every method ranks
its questions in both. The `or` runs are also laid beside those of a real Elasticsearch, where it recorded the
same: alone without the title clause, together with one of weight .3.
"""

import asyncio
import gzip
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from eval.experiments.options import data_option, home_option
from eval.measures import Scores, evaluate
from eval.overlap import mean_overlap, mean_rank_biased_overlap
from eval.progress import question_bar
from eval.qrels import Qrels, read_qrels
from eval.ranking import rank_topics
from eval.runs import Run, read_run
from eval.significance import Comparison, compare
from eval.tables import aligned, shown_p
from eval.topics import read_topics
from indexer.errors import IndexMismatch, UnknownIndex
from indexer.ingest import IngestRequest, Progress, build_index
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings

GOLDEN = Path("../shared/golden")

COMBINED = "combined"
METHODS = ("or", "paper", "shrag")
BASELINE, TUNED = "or", "shrag"
MEASURES = ("nDCG@10", "Success@5", "Success@15", "R@100")
DEPTH = 100
FIRST = 10
# The title weight of the recorded runs.
RECORDED_TITLE_WEIGHT = {"alone": 0.0, "together": 0.3}


@dataclass(frozen=True, slots=True)
class Collection:
    """A corpus with its questions: files below the data folder, topics and qrels by split."""

    name: str
    prefix: str
    corpus: str
    splits: Mapping[str, tuple[str, str]]
    recorded: Mapping[str, str] = field(default_factory=dict)


def _tydi(language: str) -> Collection:
    folder = f"tydi-goldp/miracl-v1.0-{language}"
    return Collection(
        name=f"tydi-{language}",
        prefix=language,
        corpus=f"tydi-goldp/miracl-corpus-v1.0-{language}",
        splits={
            split: (
                f"{folder}/topics/topics.miracl-v1.0-{language}-{split}.tsv",
                f"{folder}/qrels/qrels.miracl-v1.0-{language}-{split}.tsv",
            )
            for split in ("dev", "train")
        },
        recorded=_recorded(f"tydi-{language}-dev"),
    )


def _recorded(name: str) -> dict[str, str]:
    return {
        "alone": f"runs/{name}.bilingual-discard.trec.gz",
        "together": f"runs/combined.{name}.bilingual-discard-title0.3.trec.gz",
    }


COLLECTIONS = (
    _tydi("ko"),
    _tydi("en"),
    Collection(
        name="scifact",
        prefix="sf",
        corpus="scifact/corpus.jsonl.gz",
        splits={"dev": ("scifact/topics.test.tsv", "scifact/qrels.test.txt")},
        recorded=_recorded("scifact-test"),
    ),
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one method made of one collection's questions in one index."""

    collection: str
    setting: str
    method: str
    questions: int
    scores: Scores

    def as_record(self) -> dict[str, Any]:
        """Return the row of the table."""
        names = ("collection", "setting", "method", "questions")
        return {name: getattr(self, name) for name in names} | self.scores.means


@dataclass(frozen=True, slots=True)
class BesideRecorded:
    """The `or` run beside the recorded one of the same title weight."""

    collection: str
    setting: str
    title_weight: float
    ours: float
    recorded: float
    overlap: float
    rank_biased_overlap: float

    def as_record(self) -> dict[str, Any]:
        """Return the row of the table."""
        return {
            "collection": self.collection,
            "setting": self.setting,
            "title_weight": self.title_weight,
            MEASURES[0]: self.ours,
            f"recorded {MEASURES[0]}": self.recorded,
            f"overlap@{FIRST}": self.overlap,
            "rank_biased_overlap": self.rank_biased_overlap,
        }


class Bench:
    """The collections' indexes of one home, built where they are missing or outdated."""

    def __init__(
        self, home: Path, data: Path, progress: Progress, settings: IndexerSettings | None = None
    ) -> None:
        """Name the folders, or the engine as well; nothing is built yet."""
        self._settings = settings or IndexerSettings(home=home)
        self._data = data
        self._progress = progress

    def open(self, collection: Collection, setting: str) -> SearchIndex:
        """Open the collection's own index, or the one of all."""
        if setting == "alone":
            return self._opened(collection.name, [self._data / collection.corpus])
        with tempfile.TemporaryDirectory() as folder:
            return self._opened(COMBINED, [Path(folder) / "combined.jsonl"])

    def _opened(self, name: str, paths: Sequence[Path]) -> SearchIndex:
        try:
            return open_index(self._settings, name)
        except (UnknownIndex, IndexMismatch):
            if name == COMBINED:
                write_combined(paths[0], self._data, COLLECTIONS)
            request = IngestRequest(name=name, paths=[str(path) for path in paths], rebuild=True)
            build_index(request, self._settings, self._progress)
            return open_index(self._settings, name)

    def rank(
        self, index: SearchIndex, topics: Mapping[str, str], method: str, title_weight: float | None = None
    ) -> Run:
        """Rank the questions in the index's judged unit."""
        settings = RetrieverSettings()
        if title_weight is not None:
            # The recorded runs are of a match query, which counts a word as often as the question has it.
            settings = settings.model_copy(update={"title_weight": title_weight, "count_repeats": True})
        request = SearchRequest(question="", method=method, k=DEPTH, collapse=index.manifest.unit == "paper")
        return asyncio.run(rank_topics(index, topics, request, settings, progress=self._progress)).run


def write_combined(path: Path, data: Path, collections: Iterable[Collection]) -> None:
    """Write all corpora into one file of MIRACL's layout, ids prefixed."""
    with path.open("w", encoding="utf-8") as file:
        for collection in collections:
            for record in records(data / collection.corpus):
                passage = {
                    "docid": collection.prefix + str(record.get("docid", record.get("id"))),
                    "title": record.get("title", ""),
                    "text": record.get("text", record.get("abstract", "")),
                }
                file.write(json.dumps(passage, ensure_ascii=False) + "\n")


def prefixed(qrels: Qrels, prefix: str) -> Qrels:
    """Return judgements of ids as they stand in the index of all corpora."""
    return {
        query_id: {prefix + judged: grade for judged, grade in grades.items()}
        for query_id, grades in qrels.items()
    }


def unseen(topics: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """Return the topics whose question, apart from case and spaces, is not among the others."""
    known = {_folded(question) for question in others.values()}
    return {query_id: question for query_id, question in topics.items() if _folded(question) not in known}


def _folded(question: str) -> str:
    return " ".join(question.casefold().split())


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a corpus: a packed file, or all of a folder."""
    files = sorted(path.glob("*.jsonl.gz")) if path.is_dir() else [path]
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def questions(data: Path, collection: Collection, split: str) -> tuple[dict[str, str], Qrels]:
    """Read topics and judgements; of the training questions those that do not stand in dev."""
    topics_path, qrels_path = collection.splits[split]
    topics, qrels = read_topics(data / topics_path), read_qrels(data / qrels_path)
    if split != "dev":
        topics = unseen(topics, read_topics(data / collection.splits["dev"][0]))
        qrels = {query_id: grades for query_id, grades in qrels.items() if query_id in topics}
    return topics, qrels


def run_experiment(
    bench: Bench, data: Path, golden: Path, collections: Sequence[Collection], split: str
) -> tuple[list[Ranked], list[BesideRecorded]]:
    """Rank every collection by every method, alone and together; lay `or` beside what is recorded."""
    ranked: list[Ranked] = []
    beside: list[BesideRecorded] = []
    for collection in collections:
        topics, judged = questions(data, collection, split)
        for setting, weight in RECORDED_TITLE_WEIGHT.items():
            qrels = judged if setting == "alone" else prefixed(judged, collection.prefix)
            with bench.open(collection, setting) as index:
                for method in METHODS:
                    scores = evaluate(qrels, bench.rank(index, topics, method), MEASURES)
                    ranked.append(Ranked(collection.name, setting, method, len(topics), scores))
                recorded_path = golden / collection.recorded[setting]
                if split == "dev" and recorded_path.exists():
                    ours, recorded = bench.rank(index, topics, BASELINE, weight), read_run(recorded_path)
                    beside.append(
                        BesideRecorded(
                            collection=collection.name,
                            setting=setting,
                            title_weight=weight,
                            ours=evaluate(qrels, ours, MEASURES[0]).means[MEASURES[0]],
                            recorded=evaluate(qrels, recorded, MEASURES[0]).means[MEASURES[0]],
                            overlap=mean_overlap(ours, recorded, FIRST),
                            rank_biased_overlap=mean_rank_biased_overlap(ours, recorded),
                        )
                    )
    return ranked, beside


def gains(ranked: Sequence[Ranked]) -> list[tuple[Ranked, str, Comparison]]:
    """Compare the tuned method with the baseline, by collection, setting and measure."""
    by_key = {(row.collection, row.setting, row.method): row for row in ranked}
    return [
        (row, measure, compare(list(base.scores.per_query[measure].values()), list(values.values())))
        for row in ranked
        if row.method == TUNED
        for base in (by_key[row.collection, row.setting, BASELINE],)
        for measure, values in row.scores.per_query.items()
    ]


def _show(ranked: Sequence[Ranked], beside: Sequence[BesideRecorded]) -> None:
    rows = [
        (
            row.collection,
            row.setting,
            row.method,
            str(row.questions),
            *(f"{mean:.4f}" for mean in row.scores.means.values()),
        )
        for row in ranked
    ]
    click.echo(aligned(("collection", "index", "method", "questions", *MEASURES), rows, words=3))
    click.echo(f"\n{TUNED} − {BASELINE}")
    rows = [
        (
            tuned.collection,
            tuned.setting,
            measure,
            f"{found.difference:+.4f}",
            f"{found.interval[0]:+.4f} … {found.interval[1]:+.4f}",
            shown_p(found.p_value),
            f"{found.wins} / {found.ties} / {found.losses}",
        )
        for tuned, measure, found in gains(ranked)
    ]
    header = ("collection", "index", "measure", "gain", "95 % interval", "p", "better / same / worse")
    click.echo(aligned(header, rows, words=3))
    if not beside:
        return
    click.echo(f"\n{BASELINE} beside the recorded runs")
    rows = [
        (
            compared.collection,
            compared.setting,
            f"{compared.title_weight:g}",
            f"{compared.ours:.4f}",
            f"{compared.recorded:.4f}",
            f"{compared.overlap:.4f}",
            f"{compared.rank_biased_overlap:.4f}",
        )
        for compared in beside
    ]
    header = ("collection", "index", "title", MEASURES[0], "recorded", f"first {FIRST} in common", "RBO")
    click.echo(aligned(header, rows, words=2))


@click.command()
@home_option
@data_option
@click.option("--golden", type=click.Path(path_type=Path), default=GOLDEN, show_default=True)
@click.option(
    "--topics",
    "split",
    type=click.Choice(["dev", "train"]),
    default="dev",
    show_default=True,
    help="dev (scifact: test), or train without the questions that stand in dev.",
)
@click.option(
    "--collection",
    "names",
    multiple=True,
    type=click.Choice([collection.name for collection in COLLECTIONS]),
    help="Only this; may be given again.",
)
@json_option
def main(home: Path, data: Path, golden: Path, split: str, names: tuple[str, ...], as_json: bool) -> None:
    """Rank the shared collections by every method, alone and in one index, and test what is gained."""
    collections = [
        collection
        for collection in COLLECTIONS
        if split in collection.splits and (not names or collection.name in names)
    ]
    with question_bar() as progress:
        ranked, beside = run_experiment(Bench(home, data, progress), data, golden, collections, split)
    if not as_json:
        _show(ranked, beside)
        return
    tests = [
        {"collection": tuned.collection, "setting": tuned.setting, "measure": measure} | found.as_record()
        for tuned, measure, found in gains(ranked)
    ]
    record = {
        "ranked": [row.as_record() for row in ranked],
        "gains": tests,
        "recorded": [compared.as_record() for compared in beside],
    }
    click.echo(json.dumps(record, ensure_ascii=False))


if __name__ == "__main__":
    main()
