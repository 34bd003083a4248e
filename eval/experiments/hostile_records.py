"""Effect of hostile records on results and answers.

    python -m eval.experiments.hostile_records [--json]

Indexes `sample/` several times: alone, and with the hostile records of one attack. The answerable questions
are answered from each index without a model. Reported:

Success@5        questions with a paper of grade 2 in the evidence
repeated         places in the evidence with a text that a better place already has
cited            answers that cite a hostile record
evidence         questions with a hostile record in the evidence
ms               milliseconds for finding duplicates, the median of the questions
"""

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import click

from base.sample import SAMPLE
from eval.experiments.attacks import ATTACKS, COPY_OF, HOSTILE
from eval.experiments.collections import read_lines
from eval.experiments.rows import Row, echo_rows
from eval.experiments.sample import ANSWERS
from eval.qrels import Qrels, read_qrels
from generator.pipeline import AskResult, Settings, answer_question
from generator.request import AskRequest
from generator.settings import EVIDENCE, GeneratorSettings
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.settings import RetrieverSettings

Topics: TypeAlias = Sequence[Mapping[str, Any]]


async def ask_all(index: SearchIndex, topics: Topics) -> dict[str, AskResult]:
    """Ask all questions for answers without a model."""
    settings = Settings(IndexerSettings(), RetrieverSettings(), GeneratorSettings())
    return {
        topic["query_id"]: await answer_question(index, AskRequest(topic["question"]), settings)
        for topic in topics
    }


def figures_of(answered: Mapping[str, AskResult], qrels: Qrels) -> dict[str, float]:
    """Count the outcomes of the questions."""
    found = repeated = cited = evidence = 0
    for query_id, result in answered.items():
        papers = [hit.doc_id for hit in result.evidence]
        texts = {hit.paper.get(COPY_OF, hit.doc_id) for hit in result.evidence}
        relevant = {doc_id for doc_id, grade in qrels[query_id].items() if grade >= ANSWERS}
        found += not relevant.isdisjoint(papers)
        repeated += len(papers) - len(texts)
        citations = chain.from_iterable(sentence.citations for sentence in result.answer.sentences)
        cited += any(passage_id.startswith(HOSTILE) for passage_id in citations)
        evidence += any(doc_id.startswith(HOSTILE) for doc_id in papers)
    return {
        "questions": len(answered),
        f"Success@{EVIDENCE}": found,
        "repeated": repeated,
        "cited": cited,
        "evidence": evidence,
        "ms": median(result.result.milliseconds["duplicates"] for result in answered.values()),
    }


def measure(attack: str, home: Path) -> Row:
    """Index the sample with the records of an attack, ask, and count the outcomes."""
    qrels = read_qrels(SAMPLE / "qrels.txt")
    topics = [
        topic for topic in read_lines(SAMPLE / "topics.jsonl") if any(qrels[topic["query_id"]].values())
    ]
    questions = {
        doc_id: topic["question"]
        for topic in topics
        for doc_id, grade in qrels[topic["query_id"]].items()
        if grade > 0
    }
    papers = [paper for paper in read_lines(SAMPLE / "papers.jsonl") if paper["id"] in questions]
    hostile = list(ATTACKS[attack](papers, questions))
    records = home / "hostile.jsonl"
    records.write_text("".join(f"{json.dumps(record)}\n" for record in hostile), encoding="utf-8")
    paths = [SAMPLE / "papers.jsonl", *([records] if hostile else [])]
    settings = IndexerSettings(home=home)
    build_index(IngestRequest("hostile", [str(path) for path in paths], rebuild=True), settings)
    with open_index(settings, "hostile") as index:
        answered = asyncio.run(ask_all(index, topics))
    return Row({"attack": attack}, {"records": len(hostile), **figures_of(answered, qrels)})


@click.command()
@click.option("--attack", "attacks", multiple=True, type=click.Choice(list(ATTACKS)), help="Only this.")
@json_option
def main(attacks: Sequence[str], as_json: bool) -> None:
    """Attack the sample, and count the outcomes of its questions."""
    with tempfile.TemporaryDirectory() as home:
        rows = [measure(attack, Path(home)) for attack in attacks or ATTACKS]
    echo_rows(rows, as_json=as_json)


if __name__ == "__main__":
    main()
