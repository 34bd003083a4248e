"""Comparison of the ways from a question to its answer on the sample corpus.

    python -m tools.ways --home DIR [--way NAME]… [--json]

Asks the forty questions of `sample/` by every way, with the configured language model, encoder and
cross-encoder, or without. Reported for answerable questions: those with an answering paper in the evidence
(S@5), those whose answer contains one of the strings of `sample/answers.jsonl`, and the declined ones; for
the others: the declined ones; for all: sentences of an answer, passages of evidence, milliseconds.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from base.progress import Progress
from base.sample import SAMPLE
from eval.accepted import contains_accepted, read_accepted
from eval.collection import read_qrels
from eval.progress import question_bar
from eval.statistics import mean_of_known
from generator.pipeline import Settings, answer_question
from generator.ways import make_request, way_names
from indexer.options import json_option
from retriever.index import SearchIndex
from tools.answers import ANSWERS
from tools.bench import Bench, Row, echo_rows, home_option
from tools.collections import OF_SAMPLE, read_lines


async def ask_by(
    way: str, index: SearchIndex, settings: Settings, progress: Progress
) -> list[dict[str, Any]]:
    """Ask the sample's questions by a way; `holds` is None for a question without strings."""
    topics, qrels = read_lines(SAMPLE / "topics.jsonl"), read_qrels(SAMPLE / "qrels.txt")
    strings, outcomes = read_accepted(SAMPLE / "answers.jsonl"), []
    for place, topic in enumerate(topics):
        progress(way, place, len(topics))
        asked = await answer_question(index, make_request(settings, topic["question"], way=way), settings)
        grades, accepted = qrels.get(topic["query_id"], {}), strings.get(topic["query_id"])
        text = " ".join(sentence.text for sentence in asked.answer.sentences)
        outcomes.append(
            {
                "answerable": topic["kind"] != "unanswerable",
                "found": any(grades.get(hit.doc_id, 0) >= ANSWERS for hit in asked.evidence),
                "holds": contains_accepted(text, accepted) if accepted else None,
                "abstained": asked.answer.abstained,
                "sentences": len(asked.answer.sentences),
                "passages": len(asked.evidence),
                "ms": asked.result.milliseconds["total"],
            }
        )
    return outcomes


def row_of(way: str, outcomes: Sequence[dict[str, Any]]) -> Row:
    """Return the row of a way."""

    def mean(name: str) -> float:
        return mean_of_known(each[name] for each in outcomes) or 0.0

    answerable = [each for each in outcomes if each["answerable"]]
    return {
        "way": way,
        "S@5": mean_of_known(each["found"] for each in answerable) or 0.0,
        "holds the answer": mean("holds"),
        "turned away": sum(each["abstained"] for each in answerable),
        "rightly": sum(each["abstained"] for each in outcomes if not each["answerable"]),
        **{name: mean(name) for name in ("sentences", "passages", "ms")},
    }


@click.command()
@home_option
@click.option(
    "--way", "ways", multiple=True, type=click.Choice(way_names()), help="Only this one; repeatable."
)
@json_option
def main(home: Path, ways: tuple[str, ...], as_json: bool) -> None:
    """Compare the ways on the sample's questions."""
    settings = Settings.from_environment()
    with question_bar() as progress, Bench(home, SAMPLE, progress).open(OF_SAMPLE) as index:
        rows = [
            row_of(way, asyncio.run(ask_by(way, index, settings, progress))) for way in ways or way_names()
        ]
    echo_rows(rows, as_json=as_json)


if __name__ == "__main__":
    main()
