"""The collections of the tables: corpora, questions and judgements, in the data folder or in `sample/`."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from base.sample import SAMPLE
from base.terminal.output import echo
from eval.collection import Qrels, read_qrels, read_topics
from eval.measures import Scores, evaluate
from eval.runs import Run
from retriever.strategy import Strategy, read_strategies

CUTOFF = 10
# Both: the share of questions with all their papers among the first ten.
RECALL, BOTH = f"R@{CUTOFF}", f"both@{CUTOFF}"


@dataclass(frozen=True, slots=True)
class Collection:
    """A corpus with its questions: files in the data folder, topics and qrels by split."""

    name: str  # of the collection, and of its index
    corpus: str  # file or folder
    # Files of topics and judgements, which a file of questions may contain too, as "supporting".
    splits: Mapping[str, tuple[str, str]]
    strategies: str = ""  # recorded answers of a strategist to its dev questions, or to some of them
    measures: tuple[str, ...] = ()  # additional measures of its questions
    prefix: str = ""  # of its ids in the combined index; without one it is not included there
    # Runs of a real Elasticsearch, for the own index and the combined one.
    recorded: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> tuple[str, ...]:
        """The indexes for its questions: its own and the combined one."""
        return ("alone", "together") if self.prefix else ("alone",)


def _recorded(name: str) -> dict[str, str]:
    return {
        "alone": f"runs/{name}.bilingual-discard.trec.gz",
        "together": f"runs/combined.{name}.bilingual-discard-title0.3.trec.gz",
    }


def _tydi(language: str) -> Collection:
    data, name = f"miracl-v1.0-{language}", f"tydi-{language}"
    splits = {
        split: (
            f"tydi-goldp/{data}/topics/topics.{data}-{split}.tsv",
            f"tydi-goldp/{data}/qrels/qrels.{data}-{split}.tsv",
        )
        for split in ("dev", "train")
    }
    corpus, strategies = f"tydi-goldp/miracl-corpus-v1.0-{language}", f"strategies/{name}-dev.jsonl"
    return Collection(name, corpus, splits, strategies, prefix=language, recorded=_recorded(f"{name}-dev"))


def _training(name: str, *measures: str) -> Collection:
    corpus, *judged = (f"training/{name}/{file}" for file in ("corpus.jsonl.gz", "topics.tsv", "qrels.txt"))
    return Collection(name, corpus, {"dev": (judged[0], judged[1])}, f"strategies/{name}.jsonl", measures)


def _own(name: str, folder: Path) -> Collection:
    corpus, topics, qrels, strategies = (
        str(folder / file) for file in ("papers.jsonl", "topics.jsonl", "qrels.txt", "strategies.jsonl")
    )
    return Collection(name, corpus, {"dev": (topics, qrels)}, strategies)


COLLECTIONS = (
    _tydi("ko"),
    _tydi("en"),
    Collection(
        "scifact",
        "scifact/corpus.jsonl.gz",
        {"dev": ("scifact/topics.test.tsv", "scifact/qrels.test.txt")},
        "strategies/scifact.jsonl",
        prefix="sf",
        recorded=_recorded("scifact-test"),
    ),
    Collection(
        "hotpotqa-100",
        "hotpotqa-100/corpus.jsonl.gz",
        {"dev": ("hotpotqa-100/questions.jsonl",) * 2},
        "strategies/hotpotqa-100.jsonl",
        (RECALL, BOTH),
    ),
)
# Weights are fitted on these collections by leaving one out; they are never reported as unseen.
TRAINING = (
    *map(_training, "cisi cacm cranfield lisa npl autorag-ko welfare-ko belebele-ko korquad-500".split()),
    _training("musique-100", RECALL, BOTH),
)
# Korean questions on English passages; a part of the questions has strategies.
CROSSING = _training("belebele-ko2en")
# Indexed from the repository's own folder; nothing may be fitted on the questions of HELD_OUT.
OF_SAMPLE = _own("sample", SAMPLE)
HELD_OUT = _own("held-out", SAMPLE / "held-out")


def present(data: Path, collections: Iterable[Collection]) -> list[Collection]:
    """Return the collections whose corpus is in the folder; report the others on standard error."""
    wanted = list(collections)
    there = [collection for collection in wanted if (data / collection.corpus).exists()]
    if absent := [collection.name for collection in wanted if collection not in there]:
        echo(f"not in {data}, left out: {', '.join(absent)}", err=True)
    return there


def questions(data: Path, collection: Collection, split: str, step: int = 1) -> tuple[dict[str, str], Qrels]:
    """Read every `step`-th topic and the judgements; training questions that are also in dev are left out."""
    topics_path, qrels_path = (data / path for path in collection.splits[split])
    topics = read_topics(topics_path)
    qrels = supporting(qrels_path) if qrels_path == topics_path else read_qrels(qrels_path)
    if split != "dev":
        topics = unseen(topics, read_topics(data / collection.splits["dev"][0]))
        qrels = {query_id: grades for query_id, grades in qrels.items() if query_id in topics}
    return dict(list(topics.items())[::step]), qrels


def recorded_strategies(data: Path, collection: Collection) -> dict[str, Strategy]:
    """Read the recorded strategies of a collection; none if it has no file."""
    path = data / collection.strategies
    return read_strategies(path) if path.is_file() else {}


def unseen(topics: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """Return the topics whose question is not among the others, ignoring case and spaces."""
    known = {" ".join(question.casefold().split()) for question in others.values()}
    return {key: text for key, text in topics.items() if " ".join(text.casefold().split()) not in known}


def supporting(path: Path) -> Qrels:
    """Read {"query_id", "supporting"} lines: each supporting paper is relevant."""
    return {record["query_id"]: dict.fromkeys(record["supporting"], 1) for record in read_lines(path)}


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read the records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a corpus: a gzipped file, or all files of a folder."""
    for file in sorted(path.glob("*.jsonl.gz")) if path.is_dir() else [path]:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def write_combined(path: Path, data: Path, collections: Iterable[Collection]) -> None:
    """Write all corpora into one file in MIRACL's format, with prefixed ids."""
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
    """Return judgements with the ids of the combined index."""
    return {
        query_id: {prefix + judged: grade for judged, grade in grades.items()}
        for query_id, grades in qrels.items()
    }


def scores_of(qrels: Qrels, run: Run, measures: Sequence[str]) -> Scores:
    """Score a run with `evaluate`, and with `both@10` if requested."""
    if BOTH not in measures:
        return evaluate(qrels, run, measures)
    found = evaluate(qrels, run, [*(measure for measure in measures if measure != BOTH), RECALL])
    both = {query_id: float(recall == 1) for query_id, recall in found.per_query[RECALL].items()}
    means = found.means | {BOTH: sum(both.values()) / len(both)}
    per_query = found.per_query | {BOTH: both}
    return replace(
        found,
        means={measure: means[measure] for measure in measures},
        per_query={measure: per_query[measure] for measure in measures},
    )
