"""Comparison of the ways from a question to its answer on the sample corpus.

    python -m tools.ways --home DIR [--way NAME]… [--json]

Asks the forty questions of `sample/` by every way, with the configured language model, encoder and
cross-encoder, or without. Reported for answerable questions: those with an answering paper in the evidence
(S@5), those whose answer contains one of the strings of `sample/answers.jsonl`, and the declined ones; for
the others: the declined ones; for all: sentences of an answer, passages of evidence, milliseconds.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from base.progress import Progress
from base.sample import SAMPLE
from eval.accepted import contains_accepted, read_accepted
from eval.collection import read_qrels
from eval.progress import question_bar
from generator.pipeline import AskResult, Settings, answer_question
from generator.ways import make_request, way_names
from retriever.index import SearchIndex
from tools.answers import ANSWERS, Topic
from tools.bench import Bench, Row, home_option, names_option, table_command
from tools.collections import OF_SAMPLE, read_lines


async def ask_by(way: str, index: SearchIndex, settings: Settings, progress: Progress) -> list[AskResult]:
    """Ask the sample's questions by a way."""
    topics, asked = read_lines(SAMPLE / "topics.jsonl"), []
    for place, topic in enumerate(topics):
        progress(way, place, len(topics))
        request = make_request(settings, topic["question"], way=way)
        asked.append(await answer_question(index, request, settings))
    return asked


def row_of(way: str, topics: Sequence[Topic], asked: Sequence[AskResult]) -> Row:
    """Return the row of a way."""
    qrels, strings = read_qrels(SAMPLE / "qrels.txt"), read_accepted(SAMPLE / "answers.jsonl")
    declined: Mapping[bool, list[bool]] = {True: [], False: []}
    found, holds = [], []
    for topic, result in zip(topics, asked, strict=True):
        query_id, answerable = topic["query_id"], topic["kind"] != "unanswerable"
        declined[answerable].append(result.answer.abstained)
        if answerable:
            grades = qrels.get(query_id, {})
            found.append(any(grades.get(hit.doc_id, 0) >= ANSWERS for hit in result.evidence))
        if query_id in strings:
            text = " ".join(sentence.text for sentence in result.answer.sentences)
            holds.append(contains_accepted(text, strings[query_id]))
    return {
        "way": way,
        "S@5": fmean(found),
        "holds the answer": fmean(holds),
        "turned away": sum(declined[True]),
        "rightly": sum(declined[False]),
        "sentences": fmean(len(result.answer.sentences) for result in asked),
        "passages": fmean(len(result.evidence) for result in asked),
        "ms": fmean(result.result.milliseconds["total"] for result in asked),
    }


@table_command
@home_option
@names_option(way_names(), "--way")
def main(home: Path, names: tuple[str, ...]) -> Iterator[Row]:
    """Compare the ways on the sample's questions."""
    settings, topics = Settings.from_environment(), read_lines(SAMPLE / "topics.jsonl")
    with question_bar() as progress, Bench(home, SAMPLE, progress).open(OF_SAMPLE) as index:
        for way in names or way_names():
            yield row_of(way, topics, asyncio.run(ask_by(way, index, settings, progress)))


if __name__ == "__main__":
    main()
