"""The collections of the tables: corpora, questions and judgements, in the data folder or in `sample/`."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from base.sample import SAMPLE
from base.terminal.output import echo
from eval.collection import Qrels, read_qrels, read_topics
from eval.measures import evaluate
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


def _tydi(language: str) -> Collection:
    data, name = f"miracl-v1.0-{language}", f"tydi-{language}"
    splits = {
        split: (
            f"tydi-goldp/{data}/topics/topics.{data}-{split}.tsv",
            f"tydi-goldp/{data}/qrels/qrels.{data}-{split}.tsv",
        )
        for split in ("dev", "train")
    }
    corpus = f"tydi-goldp/miracl-corpus-v1.0-{language}"
    return Collection(name, corpus, splits, f"strategies/{name}-dev.jsonl")


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
    """Read the records of a file of JSON lines, gzipped if it is called so."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.split(b"\n") if line]


def scores_of(qrels: Qrels, run: Run, measures: Sequence[str]) -> dict[str, float]:
    """Return the mean of each measure; `both@10` is the share of questions whose R@10 is 1."""
    found = evaluate(qrels, run, dict.fromkeys(RECALL if name == BOTH else name for name in measures))
    recalls = found.per_query.get(RECALL, {}).values()
    return {
        name: fmean(recall == 1 for recall in recalls) if name == BOTH else found.means[name]
        for name in measures
    }
