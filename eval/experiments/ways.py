"""Comparison of the ways from a question to its answer on the sample corpus.

    python -m eval.experiments.ways --home DIR [--way NAME]… [--json]

Asks the forty questions of `sample/` by every way, with the configured language model, encoder and
cross-encoder, or without. Reported for answerable questions: those with an answering paper in the evidence
(S@5), those whose answer contains one of the strings of `sample/answers.jsonl`, and the declined ones; for
the others: the declined ones; for all: sentences of an answer, passages of evidence, milliseconds.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from base.sample import SAMPLE
from eval.accepted import contains_accepted, read_accepted
from eval.experiments.collections import OF_SAMPLE, read_lines
from eval.experiments.console import Row, echo_rows, home_option
from eval.experiments.sample import ANSWERS
from eval.progress import question_bar
from eval.qrels import Qrels, read_qrels
from generator.pipeline import AskResult, Settings, answer_question
from generator.ways import make_request, way_names
from indexer.errors import UnknownIndex
from indexer.ingest import IngestRequest, Progress, build_index
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one question."""

    answerable: bool
    found: bool  # an answering paper is in the evidence
    holds: bool | None  # the answer contains one of the strings; None if there are none
    abstained: bool
    sentences: int
    passages: int
    milliseconds: float


def outcome(topic: Mapping[str, Any], asked: AskResult, qrels: Qrels, strings: Sequence[str]) -> Outcome:
    """Return the outcome of a question from its answer."""
    right = {doc_id for doc_id, grade in qrels.get(topic["query_id"], {}).items() if grade >= ANSWERS}
    text = " ".join(sentence.text for sentence in asked.answer.sentences)
    return Outcome(
        answerable=topic["kind"] != "unanswerable",
        found=any(hit.doc_id in right for hit in asked.evidence),
        holds=contains_accepted(text, strings) if strings else None,
        abstained=asked.answer.abstained,
        sentences=len(asked.answer.sentences),
        passages=len(asked.evidence),
        milliseconds=asked.result.milliseconds["total"],
    )


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Compute the figures of one way."""
    answerable = [each for each in outcomes if each.answerable]
    others = [each for each in outcomes if not each.answerable]
    known = [each.holds for each in outcomes if each.holds is not None]
    return {
        "S@5": fmean(each.found for each in answerable),
        "holds the answer": fmean(known),
        "turned away": sum(each.abstained for each in answerable),
        "rightly": sum(each.abstained for each in others),
        "sentences": fmean(each.sentences for each in outcomes),
        "passages": fmean(each.passages for each in outcomes),
        "ms": fmean(each.milliseconds for each in outcomes),
    }


def run_experiment(
    index: SearchIndex, settings: Settings, ways: Sequence[str], progress: Progress
) -> Iterator[Row]:
    """Yield the row of each way."""
    topics, qrels = read_lines(SAMPLE / "topics.jsonl"), read_qrels(SAMPLE / "qrels.txt")
    strings = read_accepted(SAMPLE / "answers.jsonl")
    for way in ways:

        async def ask_all(way: str = way) -> list[Outcome]:
            outcomes = []
            for place, topic in enumerate(topics):
                progress(way, place, len(topics))
                asked = await answer_question(
                    index, make_request(settings, topic["question"], way=way), settings
                )
                outcomes.append(outcome(topic, asked, qrels, strings.get(topic["query_id"], ())))
            return outcomes

        yield Row({"way": way}, figures(asyncio.run(ask_all())))


def open_sample(settings: IndexerSettings) -> SearchIndex:
    """Open the index of the sample, building it if it is missing."""
    try:
        return open_index(settings, OF_SAMPLE.name)
    except UnknownIndex:
        build_index(IngestRequest(name=OF_SAMPLE.name, paths=[str(SAMPLE / "papers.jsonl")]), settings)
        return open_index(settings, OF_SAMPLE.name)


@click.command()
@home_option
@click.option(
    "--way", "ways", multiple=True, type=click.Choice(way_names()), help="Only this way; repeatable."
)
@json_option
def main(home: Path, ways: tuple[str, ...], as_json: bool) -> None:
    """Compare the ways on the sample's questions."""
    settings = Settings.from_environment()
    with question_bar() as progress, open_sample(IndexerSettings(home=home)) as index:
        rows = list(run_experiment(index, settings, ways or way_names(), progress))
    echo_rows(rows, as_json=as_json)


if __name__ == "__main__":
    main()
