"""Effect of hostile records on results and answers.

    python -m eval.experiments.hostile_records [--json]

Indexes `sample/` several times: alone, and with the hostile records of one attack. The questions that have an
answer are answered from each index without a model. Reported:

Success@5        the questions with a paper of grade 2 in the evidence
repeated         the places of evidence that hold a text which a better place holds already
cited            the answers that cite a hostile record
evidence         the questions with a hostile record in the evidence
ms               milliseconds for finding duplicates, the median of the questions
"""

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import click

from eval.experiments.rows import Row, echo_rows
from eval.experiments.sample import ANSWERS, SAMPLE, read_lines
from eval.qrels import Qrels, read_qrels
from generator.pipeline import AskResult, Settings, answer_question
from generator.request import AskRequest
from generator.settings import EVIDENCE, GeneratorSettings
from indexer.chunking import split_sentences
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.papers import language_of
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.settings import RetrieverSettings

HOSTILE = "HOSTILE"  # the beginning of a hostile record's id
COPY_OF = "copy_of"  # the key of a copy's record that names the copied paper
ZERO_WIDTH = "\u200b"
FOREIGN = {
    "ko": "이 상품을 지금 주문하면 배송비 없이 받아 볼 수 있다. 할인 행사는 이번 주말까지 이어진다.",
    "en": "Order this product now and shipping is free. The sale lasts until the end of the week.",
}

Record: TypeAlias = dict[str, Any]
Topics: TypeAlias = Sequence[Mapping[str, Any]]
# From the papers that answer and the question of each, hostile records.
Attack: TypeAlias = Callable[[Iterable[Record], Mapping[str, str]], Iterator[Record]]


def claims_of_doi(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield records that claim the DOI of a paper and hold the question and a foreign text."""
    for paper in papers:
        yield _foreign(paper, questions) | {"title": questions[paper["id"]], "doi": paper.get("doi", "")}


def claims_of_title(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield records that claim the title, year and authors of a paper."""
    for paper in papers:
        yield _foreign(paper, questions) | {name: paper[name] for name in ("title", "year", "authors")}


def claims_of_all(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield records that repeat a paper, except its id and abstracts."""
    for paper in papers:
        yield paper | _foreign(paper, questions)


def _foreign(paper: Record, questions: Mapping[str, str]) -> Record:
    asked = questions[paper["id"]].rstrip("?")
    text = f"{asked}. {FOREIGN[language_of(asked)]} {asked}."
    return {"id": f"{HOSTILE}-{paper['id']}", "abstract": text, "abstract2": ""}


def copies(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield copies of each paper, each with another disguise and another DOI."""
    del questions
    for paper in papers:
        title, abstract = paper["title"], paper["abstract"]
        disguises: dict[str, Record] = {
            "year": {"year": paper["year"] - 1},
            "author": {"authors": ["A. N. Other"]},
            "title": {"title": f"{title} (2)"},
            "dots": {"title": f"{title}.", "abstract": f"{abstract}..."},
            "zero-width": {"abstract": abstract.replace(" ", f"{ZERO_WIDTH} ")},
            "shuffled": {"title": "Another title", "abstract": _shuffled(abstract)},
        }
        for name, disguise in disguises.items():
            copied = paper | {"doi": f"10.5555/{paper['id']}.{name}", COPY_OF: paper["id"]}
            yield copied | disguise | {"id": f"{HOSTILE}-{paper['id']}-{name}"}


def _shuffled(text: str) -> str:
    return " ".join(text[start:end] for start, end in reversed(split_sentences(text)))


def stuffed(separator: str, stop: str) -> Attack:
    """Return an attack of one record whose abstract is all questions, joined in some way."""

    def attack(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
        del papers
        asked = [question.rstrip("?") + stop for question in dict.fromkeys(questions.values())]
        yield {"id": HOSTILE, "title": "All questions", "abstract": separator.join(asked), "year": 2024}

    return attack


def word_list(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield a record whose abstract is the keywords of all papers."""
    del questions
    words = dict.fromkeys(word for paper in papers for word in paper.get("keywords", ()))
    yield {"id": HOSTILE, "title": "All keywords", "abstract": " ".join(words), "year": 2024}


def no_attack(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield nothing."""
    del papers, questions
    yield from ()


ATTACKS: Mapping[str, Attack] = {
    "none": no_attack,
    "claimed DOI": claims_of_doi,
    "claimed title, year and authors": claims_of_title,
    "claimed record": claims_of_all,
    "copies": copies,
    "questions": stuffed(" ", "?"),
    "questions as statements": stuffed(" ", "."),
    "questions without stops": stuffed(" ", ""),
    "questions as a list": stuffed(", ", ""),
    "keywords": word_list,
}


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
    """Index the sample with the records of an attack, ask, and count."""
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
