"""Search and answers on the sample corpus, and checks of citations on judged claims.

    python -m eval.experiments.sample [--home DIR] [--claims even|odd|first|second|third] [--list] [--json]

The experiment indexes `sample/`, asks its forty questions, and reports by kind: Success@5 (grade 2),
abstentions, the quoted sentences, and the share of them from papers that answer. It also reports how many
answers open with a finding, by the strings of `sample/answers.jsonl`. Then it checks the claims of
`sample/claims.jsonl` and reports how many supported claims are called unsupported, and how many unsupported
ones are caught, within a language and across. Claims that are close to the truth are reported apart, also by
what is wrong with them. The signs of the check were chosen on the claims of even number.
"""

import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import click

from base.sample import SAMPLE, SAMPLE_PAPERS
from base.terminal.output import echo, echo_json, echo_lines
from eval.accepted import read_accepted
from eval.experiments.collections import OF_SAMPLE, read_lines
from eval.experiments.rows import Row, table_of
from eval.qrels import Qrels, read_qrels
from generator.answers.extractive import extractive_answer, searched_terms
from generator.checking.sentence_check import check_sentence
from generator.settings import EVIDENCE
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.answerability import THRESHOLD
from retriever.index import SearchIndex, open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings

# Sets of further claims by the first letter of their ids, in the order in which they were written.
FURTHER = {"first": "F", "second": "G", "third": "H"}
# Kinds of errors in claims close to the truth; a near miss has no error.
CLOSE = (
    "multiple",
    "script",
    "period",
    "direction",
    "universal",
    "clause",
    "exchanged",
    "subject",
    "near miss",
)
ANSWERS = 2  # the grade of a paper that answers


@dataclass(frozen=True, slots=True)
class Question:
    """The outcome of one question."""

    query_id: str
    kind: str
    rank: int | None  # of the first paper that answers
    likelihood: float
    abstained: bool
    quoted: int  # sentences
    to_the_point: int  # of these, from papers that answer
    sentences: tuple[str, ...] = ()  # quoted, in their order


@dataclass(frozen=True, slots=True)
class Claim:
    """A judged claim and the result of its check."""

    claim_id: str
    pair: str
    supported: bool
    why: str
    check: str


async def ask_questions(
    index: SearchIndex, questions: Sequence[dict[str, Any]], qrels: Qrels
) -> list[Question]:
    """Ask every question for five papers and a quoted answer."""
    asked = []
    for topic in questions:
        result = await search(index, SearchRequest(topic["question"], k=EVIDENCE), RetrieverSettings())
        terms = await searched_terms(result, index, RetrieverSettings())
        answer = extractive_answer(result, index, terms, THRESHOLD)
        grades = qrels.get(topic["query_id"], {})
        ranks = [hit.rank for hit in result.hits if grades.get(hit.doc_id, 0) >= ANSWERS]
        papers = {hit.passage_id: hit.doc_id for hit in result.hits}
        cited = [papers[passage_id] for sentence in answer.sentences for passage_id in sentence.citations]
        to_the_point = sum(grades.get(doc_id, 0) >= ANSWERS for doc_id in cited)
        asked.append(
            Question(
                topic["query_id"],
                topic.get("kind", ""),
                min(ranks, default=None),
                result.likelihood or 0.0,
                answer.abstained,
                len(cited),
                to_the_point,
                tuple(sentence.text for sentence in answer.sentences),
            )
        )
    return asked


def is_for_testing(claim: dict[str, Any]) -> bool:
    """Check whether a claim is in the half on which nothing is tuned: odd numbers."""
    return int(claim["claim_id"][1:]) % 2 == 1


async def check_claims(index: SearchIndex, claims: Sequence[dict[str, Any]]) -> list[Claim]:
    """Check every claim against the papers it cites."""
    checked = []
    for claim in claims:
        papers = await index.engine.papers(claim["citations"])
        finding = check_sentence(claim["text"], list(papers.values()), index)
        supported = claim["label"] == "supported"
        checked.append(
            Claim(claim["claim_id"], claim["pair"], supported, claim.get("why", ""), finding.check)
        )
    return checked


def question_figures(asked: Sequence[Question]) -> dict[str, dict[str, float]]:
    """Count by kind: questions, Success@5, abstentions, quoted sentences, and those from answering papers."""
    by_kind: dict[str, list[Question]] = defaultdict(list)
    for question in asked:
        by_kind[question.kind].append(question)
    return {
        kind: {
            "questions": len(questions),
            "Success@5": round(sum(question.rank is not None for question in questions) / len(questions), 3),
            "abstained": sum(question.abstained for question in questions),
            "quoted sentences": sum(question.quoted for question in questions),
            "from papers that answer": sum(question.to_the_point for question in questions),
        }
        for kind, questions in by_kind.items()
    }


def finding_figures(asked: Sequence[Question], strings: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Compute how many answers open with a finding and quote one, and the share of findings quoted.

    Args:
        asked: the questions.
        strings: by query_id, strings one of which a sentence with a finding holds.
    """
    quoted = [
        [any(string in sentence for string in strings[question.query_id]) for sentence in question.sentences]
        for question in asked
        if question.query_id in strings
    ]
    sentences = sum(map(len, quoted))
    return {
        "questions": len(quoted),
        "open with a finding": round(sum(found[:1] == [True] for found in quoted) / len(quoted), 3),
        "quote a finding": round(sum(map(any, quoted)) / len(quoted), 3),
        "quoted sentences": sentences,
        "findings among them": round(sum(map(sum, quoted)) / (sentences or 1), 3),
    }


def claim_figures(checked: Sequence[Claim], *, apart: bool = True) -> dict[str, dict[str, float]]:
    """Count by pair of languages: supported claims called unsupported, unsupported ones caught."""
    figures = {}
    for pair, close in product(("within", "across"), (False, True) if apart else (False,)):
        claims = [
            claim for claim in checked if claim.pair == pair and ((claim.why in CLOSE) == close or not apart)
        ]
        right = [claim for claim in claims if claim.supported]
        wrong = [claim for claim in claims if not claim.supported]
        figures[f"{pair}, close" if close else pair] = {
            "supported": len(right),
            "called unsupported": round(sum(claim.check == "unsupported" for claim in right) / len(right), 3),
            "not checkable": round(sum(claim.check == "not checkable" for claim in right) / len(right), 3),
            "unsupported": len(wrong),
            "caught": round(sum(claim.check == "unsupported" for claim in wrong) / len(wrong), 3),
        }
    return figures


def kind_figures(checked: Sequence[Claim]) -> dict[str, dict[str, float]]:
    """Count the claims close to the truth by their kind of error, and those called unsupported."""
    by_kind = {why: [claim for claim in checked if claim.why == why] for why in CLOSE}
    return {
        why: {
            "claims": len(claims),
            "called unsupported": sum(claim.check == "unsupported" for claim in claims),
        }
        for why, claims in by_kind.items()
    }


def claims_of(part: str | None) -> list[dict[str, Any]]:
    """Read the claims of a half, of a set of further claims, or all but the further ones."""
    if part in FURTHER:
        further = read_lines(SAMPLE / "further_claims.jsonl")
        return [claim for claim in further if claim["claim_id"].startswith(FURTHER[part])]
    claims = read_lines(SAMPLE / "claims.jsonl")
    return [claim for claim in claims if part is None or is_for_testing(claim) == (part == "odd")]


def _table(first: str, figures: dict[str, dict[str, float]]) -> list[str]:
    return table_of([Row({first: name}, found) for name, found in figures.items()])


@click.command()
@click.option(
    "--home", type=click.Path(path_type=Path), help="The folder for the index; default: a temporary one."
)
@click.option(
    "--claims",
    "part",
    type=click.Choice(["even", "odd", *FURTHER]),
    help="Only the claims with even or odd numbers, or a set of further claims.",
)
@json_option
@click.option("--list", "listing", is_flag=True, help="List the questions and claims with wrong outcomes.")
def main(home: Path | None, part: str | None, as_json: bool, listing: bool) -> None:
    """Evaluate search, answers and citation checks on the sample."""
    with tempfile.TemporaryDirectory() as temporary:
        settings = IndexerSettings(home=home or Path(temporary))
        request = IngestRequest(name=OF_SAMPLE.name, paths=[str(SAMPLE_PAPERS)], rebuild=True)
        build_index(request, settings)
        with open_index(settings, OF_SAMPLE.name) as index:
            qrels = read_qrels(SAMPLE / "qrels.txt")
            asked = asyncio.run(ask_questions(index, read_lines(SAMPLE / "topics.jsonl"), qrels))
            judged = claims_of(part)
            began = time.process_time()
            checked = asyncio.run(check_claims(index, judged))
            milliseconds = 1000 * (time.process_time() - began) / len(checked)
    questions, claims, kinds = (
        question_figures(asked),
        claim_figures(checked, apart=part not in FURTHER),
        kind_figures(checked),
    )
    findings = finding_figures(asked, read_accepted(SAMPLE / "answers.jsonl"))
    if as_json:
        tables = {"questions": questions, "findings": findings, "claims": claims, "kinds": kinds}
        echo_json({**tables, "ms a claim": milliseconds})
        return
    echo_lines([*_table("questions", questions), "", *_table("answers", {"with strings": findings})])
    echo_lines(["", *_table("claims", claims), "", *_table("close to the truth", kinds)])
    echo(f"\n{milliseconds:.1f} ms of processor time per claim, including the reading of its passages")
    if listing:
        for question in asked:
            answerable = question.kind != "unanswerable"
            if question.abstained == answerable or (question.rank is None and answerable):
                echo(
                    f"{question.query_id} {question.kind}: rank {question.rank}, "
                    f"abstained {question.abstained}"
                )
        for claim in checked:
            if claim.supported == (claim.check == "unsupported"):
                echo(f"{claim.claim_id} {claim.pair}: {claim.check}, supported {claim.supported} {claim.why}")


if __name__ == "__main__":
    main()
