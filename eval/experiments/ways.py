"""Comparison of the ways from a question to its answer on the sample corpus.

    python -m eval.experiments.ways --home DIR [--way NAME]… [--json]

Asks the forty questions of `sample/` by every way, with the configured language model, encoder and
cross-encoder, or without. Reported for answerable questions: those with an answering paper in the evidence
(S@5), those whose answer contains one of the strings of `sample/answers.jsonl`, and the declined ones; for
the others: the declined ones; for all: sentences of an answer, passages of evidence, milliseconds.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from base.sample import SAMPLE
from eval.accepted import contains_accepted, read_accepted
from eval.experiments.bench import Bench
from eval.experiments.collections import OF_SAMPLE, read_lines
from eval.experiments.comparing import mean
from eval.experiments.console import Row, echo_rows, home_option
from eval.experiments.experiment import Record
from eval.experiments.sample import ANSWERS
from eval.progress import question_bar
from eval.qrels import Qrels, read_qrels
from generator.pipeline import AskResult, Settings, answer_question
from generator.ways import make_request, way_names
from indexer.ingest import Progress
from indexer.options import json_option
from retriever.index import SearchIndex


def outcome(
    topic: Mapping[str, Any], asked: AskResult, qrels: Qrels, strings: Sequence[str]
) -> dict[str, Any]:
    """Return the outcome of a question: whether it was found, declined and right, None without strings."""
    right = {doc_id for doc_id, grade in qrels.get(topic["query_id"], {}).items() if grade >= ANSWERS}
    text = " ".join(sentence.text for sentence in asked.answer.sentences)
    return {
        "answerable": topic["kind"] != "unanswerable",
        "found": any(hit.doc_id in right for hit in asked.evidence),
        "holds": contains_accepted(text, strings) if strings else None,
        "abstained": asked.answer.abstained,
        "sentences": len(asked.answer.sentences),
        "passages": len(asked.evidence),
        "ms": asked.result.milliseconds["total"],
    }


def figures(outcomes: Sequence[Record]) -> dict[str, float]:
    """Compute the figures of one way."""
    answerable = [each for each in outcomes if each["answerable"]]
    found = {
        "S@5": mean("found")(answerable),
        "holds the answer": mean("holds")(outcomes),
        "turned away": sum(each["abstained"] for each in answerable),
        "rightly": sum(each["abstained"] for each in outcomes if not each["answerable"]),
        **{name: mean(name)(outcomes) for name in ("sentences", "passages", "ms")},
    }
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def run_experiment(
    index: SearchIndex, settings: Settings, ways: Sequence[str], progress: Progress
) -> Iterator[Row]:
    """Yield the row of each way."""
    topics, qrels = read_lines(SAMPLE / "topics.jsonl"), read_qrels(SAMPLE / "qrels.txt")
    strings = read_accepted(SAMPLE / "answers.jsonl")
    for way in ways:

        async def ask_all(way: str = way) -> list[dict[str, Any]]:
            outcomes = []
            for place, topic in enumerate(topics):
                progress(way, place, len(topics))
                asked = await answer_question(
                    index, make_request(settings, topic["question"], way=way), settings
                )
                outcomes.append(outcome(topic, asked, qrels, strings.get(topic["query_id"], ())))
            return outcomes

        yield Row({"way": way}, figures(asyncio.run(ask_all())))


@click.command()
@home_option
@click.option(
    "--way", "ways", multiple=True, type=click.Choice(way_names()), help="Only this way; repeatable."
)
@json_option
def main(home: Path, ways: tuple[str, ...], as_json: bool) -> None:
    """Compare the ways on the sample's questions."""
    settings = Settings.from_environment()
    with question_bar() as progress, Bench(home, SAMPLE, progress).open(OF_SAMPLE, "alone") as index:
        rows = list(run_experiment(index, settings, ways or way_names(), progress))
    echo_rows(rows, as_json=as_json)


if __name__ == "__main__":
    main()
