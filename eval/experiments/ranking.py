"""How well the methods rank real collections: the table of methods.

    python -m eval.experiments.ranking --home DIR [--topics dev|train] [--json]

Each collection is indexed alone and, but for hotpotqa-100, with the others in one index, its ids prefixed
there; every method ranks its questions in both. The `or` runs are also laid beside those of a real
Elasticsearch, where it recorded the same: alone without the title clause, together with one of weight .3.
"""

import asyncio
import gzip
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from eval.experiments.options import data_option, home_option
from eval.experiments.rows import Row, table_of
from eval.measures import Scores, evaluate
from eval.overlap import mean_overlap, mean_rank_biased_overlap
from eval.progress import question_bar
from eval.qrels import Qrels, read_qrels
from eval.ranking import rank_topics
from eval.runs import Run, read_run
from eval.significance import Comparison, compare
from eval.topics import read_topics
from indexer.columns import table
from indexer.errors import IndexMismatch, UnknownIndex
from indexer.ingest import IngestRequest, Progress, build_index
from indexer.options import json_option
from indexer.settings import IndexerSettings
from indexer.terminal import echo_json, echo_lines
from retriever.index import SearchIndex, open_index
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings

GOLDEN = Path("../shared/golden")

COMBINED = "combined"
METHODS = ("or", "paper", "shrag")
BASELINE, TUNED = "or", "shrag"
MEASURES = ("nDCG@10", "Success@5", "Success@15", "R@100")
RECALL, BOTH = "R@10", "both@10"  # both: of all questions those with all their papers among the first ten
DEPTH = 100
FIRST = 10
# The title weight of the recorded runs.
RECORDED_TITLE_WEIGHT = {"alone": 0.0, "together": 0.3}


@dataclass(frozen=True, slots=True)
class Collection:
    """A corpus with its questions: files below the data folder, topics and qrels by split.

    Its ids bear `prefix` in the index of all; without one it is not there. Its questions are measured by
    `measures` beside the usual ones. A file of questions may hold the judgements, too, as "supporting".
    """

    name: str
    prefix: str
    corpus: str
    splits: Mapping[str, tuple[str, str]]
    recorded: Mapping[str, str] = field(default_factory=dict)
    measures: tuple[str, ...] = ()

    @property
    def settings(self) -> tuple[str, ...]:
        """The indexes that its questions are asked in: its own and that of all."""
        return ("alone", "together") if self.prefix else ("alone",)


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
    Collection(
        name="hotpotqa-100",
        prefix="",
        corpus="hotpotqa-100/corpus.jsonl.gz",
        splits={"dev": ("hotpotqa-100/questions.jsonl", "hotpotqa-100/questions.jsonl")},
        measures=(RECALL, BOTH),
    ),
)


collection_option = click.option(
    "--collection",
    "names",
    multiple=True,
    type=click.Choice([collection.name for collection in COLLECTIONS]),
    help="Only this; may be given again.",
)


class Gain(NamedTuple):
    """How the tuned method compares with the baseline in one measure."""

    subject: Mapping[str, str]  # collection, setting, measure
    found: Comparison


class Tables(NamedTuple):
    """Every method's scores, what the tuned one gains, and the baseline beside recorded runs."""

    ranked: list[Row]
    gains: list[Gain]
    beside: list[Row]


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
                write_combined(paths[0], self._data, [known for known in COLLECTIONS if known.prefix])
            request = IngestRequest(name=name, paths=[str(path) for path in paths], rebuild=True)
            build_index(request, self._settings, self._progress)
            return open_index(self._settings, name)

    def rank(
        self,
        index: SearchIndex,
        topics: Mapping[str, str],
        method: str,
        settings: RetrieverSettings | None = None,
    ) -> Run:
        """Rank the questions in the index's judged unit."""
        settings = settings or RetrieverSettings()
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


def questions(data: Path, collection: Collection, split: str, step: int = 1) -> tuple[dict[str, str], Qrels]:
    """Read every `step`-th topic and the judgements; of the training questions those that are not in dev."""
    topics_path, qrels_path = (data / path for path in collection.splits[split])
    topics = read_topics(topics_path)
    qrels = supporting(qrels_path) if qrels_path == topics_path else read_qrels(qrels_path)
    if split != "dev":
        topics = unseen(topics, read_topics(data / collection.splits["dev"][0]))
        qrels = {query_id: grades for query_id, grades in qrels.items() if query_id in topics}
    return dict(list(topics.items())[::step]), qrels


def supporting(path: Path) -> Qrels:
    """Read {"query_id", "supporting"} lines: each paper that supports the answer is relevant."""
    with path.open(encoding="utf-8") as lines:
        return {
            record["query_id"]: dict.fromkeys(record["supporting"], 1) for record in map(json.loads, lines)
        }


def scores_of(qrels: Qrels, run: Run, measures: Sequence[str]) -> Scores:
    """Score a run as `evaluate` does, and by `both@10`, if that is asked for."""
    found = evaluate(qrels, run, [measure for measure in measures if measure != BOTH])
    if BOTH not in measures:
        return found
    both = {query_id: float(recall == 1) for query_id, recall in found.per_query[RECALL].items()}
    return replace(
        found,
        means=found.means | {BOTH: sum(both.values()) / len(both)},
        per_query=found.per_query | {BOTH: both},
    )


def run_experiment(
    bench: Bench, data: Path, golden: Path, collections: Sequence[Collection], split: str
) -> Tables:
    """Rank every collection by every method, alone and together; lay `or` beside what is recorded."""
    tables = Tables([], [], [])
    for collection in collections:
        topics, judged = questions(data, collection, split)
        for setting in collection.settings:
            subject = {"collection": collection.name, "setting": setting}
            qrels = judged if setting == "alone" else prefixed(judged, collection.prefix)
            with bench.open(collection, setting) as index:
                scores = {
                    method: scores_of(
                        qrels, bench.rank(index, topics, method), (*MEASURES, *collection.measures)
                    )
                    for method in METHODS
                }
                recorded = golden / collection.recorded.get(setting, "nothing")
                if split == "dev" and recorded.exists():
                    # A match query, which counts a word as often as the question has it.
                    like = {"title_weight": RECORDED_TITLE_WEIGHT[setting], "count_repeats": True}
                    ours = bench.rank(index, topics, BASELINE, RetrieverSettings().model_copy(update=like))
                    figures = beside_recorded(qrels, ours, read_run(recorded))
                    tables.beside.append(
                        Row(subject, {"title_weight": RECORDED_TITLE_WEIGHT[setting], **figures})
                    )
            tables.ranked.extend(
                Row(subject | {"method": method}, {"questions": len(topics), **scored.means})
                for method, scored in scores.items()
            )
            tables.gains.extend(
                Gain(subject | {"measure": measure}, compare(list(base.values()), list(tuned.values())))
                for measure, base in scores[BASELINE].per_query.items()
                for tuned in (scores[TUNED].per_query[measure],)
            )
    return tables


def beside_recorded(qrels: Qrels, ours: Run, recorded: Run) -> dict[str, float]:
    """Compare a run with the recorded one of the same title weight."""
    measure = MEASURES[0]
    return {
        measure: evaluate(qrels, ours, measure).means[measure],
        f"recorded {measure}": evaluate(qrels, recorded, measure).means[measure],
        f"overlap@{FIRST}": mean_overlap(ours, recorded, FIRST),
        "rank_biased_overlap": mean_rank_biased_overlap(ours, recorded),
    }


def _show(tables: Tables) -> None:
    echo_lines([*table_of(tables.ranked), "", f"{TUNED} − {BASELINE}"])
    rows = [(*gain.subject.values(), *gain.found.as_cells()) for gain in tables.gains]
    header = ("collection", "setting", "measure", "gain", "95 % interval", "p", "better / same / worse")
    echo_lines(table([header, *rows], words=3))
    if tables.beside:
        echo_lines(["", f"{BASELINE} beside the recorded runs", *table_of(tables.beside)])


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
@collection_option
@json_option
def main(home: Path, data: Path, golden: Path, split: str, names: tuple[str, ...], as_json: bool) -> None:
    """Rank the shared collections by every method, alone and in one index, and test what is gained."""
    collections = [
        collection
        for collection in COLLECTIONS
        if split in collection.splits and (not names or collection.name in names)
    ]
    with question_bar() as progress:
        tables = run_experiment(Bench(home, data, progress), data, golden, collections, split)
    if not as_json:
        _show(tables)
        return
    record = {
        "ranked": [row.as_record() for row in tables.ranked],
        "gains": [{**gain.subject, **gain.found.as_record()} for gain in tables.gains],
        "recorded": [row.as_record() for row in tables.beside],
    }
    echo_json(record)


if __name__ == "__main__":
    main()
