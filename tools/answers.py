"""Search and answers on the sample's questions and the plain questions: found, answered, or declined.

    python -m tools.answers [--home DIR] [--list] [--json]                         # the sample's questions
    python -m tools.answers [--home DIR] --half tune|test [--list] [--json]        # plain questions
    python -m tools.answers [--home DIR] --way NAME… [--json]                      # ways to an answer

The sample's forty questions are reported by kind: Success@5 (grade 2), abstentions, the quoted sentences, and
the share of them from papers that answer.

The plain questions of one half of `sample/plain/` are asked each to its own corpus. Reported for groups of
questions: the share of questions in scope with a paper of grade 2 among the first two (`found`), the share of
these questions with an answer (`answered`), the share of questions out of scope without one (`declined`), and
the AUROC of the likelihood, questions in scope against questions out of scope. Out of scope, `near` are
questions of the corpus's fields and `far` are others. The likelihood and its threshold may be chosen on the
tune half, never on the test half.

A second table has the share of answers that open with a finding and that quote one, by the strings of
`answers.jsonl`, and the share of findings among the quoted sentences; the test half has no strings.

The ways answer the sample's questions with the configured models, or without. Reported for answerable
questions: those with an answering paper in the evidence (S@5), those whose answer contains one of the strings
of `answers.jsonl`, and the declined ones; for the others: the declined ones; for all: sentences of an answer,
passages of evidence, milliseconds.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeAlias

import click

from base.sample import SAMPLE
from base.terminal.output import echo, echo_json, echo_lines
from eval.accepted import contains_accepted, read_accepted
from eval.collection import Qrels, read_qrels
from eval.progress import question_bar
from eval.statistics import area_under_curve
from generator.pipeline import Settings, answer_question
from generator.settings import GeneratorSettings
from generator.ways import make_request, way_names
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.answerability import THRESHOLD
from retriever.index import SearchIndex
from retriever.settings import RetrieverSettings
from tools.bench import Bench, Row, names_option, path_option, table_of
from tools.collections import HELD_OUT, OF_SAMPLE, Collection, read_lines

PLAIN = SAMPLE / "plain"
CORPORA: Mapping[str, Collection] = {"sample": OF_SAMPLE, "held-out": HELD_OUT}
FIRST, ANSWERS = 2, 2  # papers among which an answer is found, and the grade of a paper that answers

Half = Literal["tune", "test"]
Topic: TypeAlias = Mapping[str, Any]
Asked: TypeAlias = Sequence[tuple[Topic, "Question"]]

# Groups of questions in scope, or out of scope, compared with all others out of, or in, scope.
GROUPS: Mapping[str, Callable[[Topic], bool]] = {
    "all": bool,
    "sample": lambda topic: topic["corpus"] == "sample",
    "held-out": lambda topic: topic["corpus"] == "held-out",
    "Korean": lambda topic: topic["language"] == "ko",
    "English": lambda topic: topic["language"] == "en",
    "cross-lingual": lambda topic: topic["cross_lingual"] or topic["scope"] != "in",
    "near": lambda topic: topic["scope"] in ("in", "near"),
    "far": lambda topic: topic["scope"] in ("in", "far"),
}


@dataclass(frozen=True, slots=True)
class Question:
    """The outcome of one question."""

    rank: int | None  # of the first paper that answers
    likelihood: float
    abstained: bool
    sentences: tuple[str, ...] = ()  # of the answer, in their order
    cited: tuple[bool, ...] = ()  # whether the paper of each citation answers
    evidence: tuple[bool, ...] = ()  # whether the paper of each passage answers
    milliseconds: float = 0.0

    @property
    def is_found(self) -> bool:
        """Whether a paper that answers is among the first two."""
        return (self.rank or FIRST + 1) <= FIRST


async def ask_questions(
    index: SearchIndex, topics: Sequence[Topic], qrels: Qrels, settings: Settings, way: str = "shrag"
) -> list[Question]:
    """Ask every question by a way."""
    asked = []
    for topic in topics:
        request = make_request(settings, topic["question"], way=way)
        given = await answer_question(index, request, settings)
        grades = qrels.get(topic["query_id"], {})
        hits = (*given.result.hits, *given.evidence)
        answering = {hit.passage_id: grades.get(hit.doc_id, 0) >= ANSWERS for hit in hits}
        asked.append(
            Question(
                next((hit.rank for hit in given.result.hits if answering[hit.passage_id]), None),
                given.result.likelihood or 0.0,
                given.answer.abstained,
                tuple(sentence.text for sentence in given.answer.sentences),
                tuple(answering[each] for of in given.answer.sentences for each in of.citations),
                tuple(answering[hit.passage_id] for hit in given.evidence),
                given.result.milliseconds["total"],
            )
        )
    return asked


def ask(bench: Bench, half: Half | None, settings: Settings | None = None, way: str = "shrag") -> Asked:
    """Ask the questions of a half of the plain questions, each to its own corpus, or those of the sample.

    Without settings no model is used.
    """
    folder = PLAIN if half else SAMPLE
    qrels, topics = read_qrels(folder / "qrels.txt"), read_lines(folder / "topics.jsonl")
    settings = settings or Settings(IndexerSettings(), RetrieverSettings(), GeneratorSettings()).with_llm(
        base_url=None
    )
    asked: list[tuple[Topic, Question]] = []
    for name, collection in CORPORA.items():
        subject = half, name
        chosen = [each for each in topics if (each.get("half"), each.get("corpus", "sample")) == subject]
        if chosen:
            with bench.open(collection) as index:
                questions = asyncio.run(ask_questions(index, chosen, qrels, settings, way))
                asked += zip(chosen, questions, strict=True)
    return asked


def sample_rows(asked: Asked) -> Iterator[Row]:
    """Yield the row of each kind: Success@5, abstentions, quoted sentences, those from answering papers."""
    for kind in dict.fromkeys(topic["kind"] for topic, _ in asked):
        of = [question for topic, question in asked if topic["kind"] == kind]
        yield {
            "table": "sample",
            "of": "questions",
            "kind": kind,
            "questions": len(of),
            "Success@5": round(_share(question.rank is not None for question in of), 3),
            "abstained": sum(question.abstained for question in of),
            "quoted sentences": sum(len(question.cited) for question in of),
            "from papers that answer": sum(sum(question.cited) for question in of),
        }


def plain_rows(asked: Asked, half: Half, groups: Iterable[str] = GROUPS) -> Iterator[Row]:
    """Yield the row of each group: its shares, and the AUROC of its likelihoods."""
    for name in groups:
        scopes: dict[bool, list[Question]] = {True: [], False: []}
        for topic, question in asked:
            if GROUPS[name](topic):
                scopes[topic["scope"] == "in"].append(question)
        likelihoods = ([question.likelihood for question in each] for each in scopes.values())
        within, outside = scopes.values()
        yield {
            "table": "plain",
            "half": half,
            "of": name,
            "in scope": len(within),
            "found": _share(question.is_found for question in within),
            "answered": _share(not question.abstained for question in within),
            "out of scope": len(outside),
            "declined": _share(question.abstained for question in outside),
            "AUROC": area_under_curve(*likelihoods),
        }


def finding_row(asked: Asked, strings: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Compute how many answers open with a finding and quote one, and the share of findings quoted.

    Args:
        asked: the questions.
        strings: by query_id, strings one of which a sentence with a finding holds.
    """
    quoted = [
        [contains_accepted(sentence, strings[topic["query_id"]]) for sentence in question.sentences]
        for topic, question in asked
        if topic["query_id"] in strings
    ]
    return {
        "questions": len(quoted),
        "open with a finding": round(_share(found[:1] == [True] for found in quoted), 3),
        "quote a finding": round(_share(map(any, quoted)), 3),
        "quoted sentences": sum(map(len, quoted)),
        "findings among them": round(_share(is_one for found in quoted for is_one in found), 3),
    }


def way_row(way: str, asked: Asked, strings: Mapping[str, Sequence[str]]) -> Row:
    """Return the row of a way."""
    declined: Mapping[bool, list[bool]] = {True: [], False: []}
    for topic, question in asked:
        declined[topic["kind"] != "unanswerable"].append(question.abstained)
    texts = [
        (" ".join(question.sentences), strings[topic["query_id"]])
        for topic, question in asked
        if topic["query_id"] in strings
    ]
    return {
        "way": way,
        "S@5": _share(any(question.evidence) for topic, question in asked if topic["kind"] != "unanswerable"),
        "holds the answer": _share(contains_accepted(*each) for each in texts),
        "turned away": sum(declined[True]),
        "rightly": sum(declined[False]),
        "sentences": fmean(len(question.sentences) for _, question in asked),
        "passages": fmean(len(question.evidence) for _, question in asked),
        "ms": fmean(question.milliseconds for _, question in asked),
    }


def _share(of: Iterable[bool]) -> float:
    values = list(of)
    return sum(values) / (len(values) or 1)


def went_wrong(topic: Topic, question: Question, half: Half | None) -> bool:
    """Check whether a question with an answer was declined or not found, or another one was answered."""
    if not (topic["scope"] == "in" if half else topic["kind"] != "unanswerable"):
        return not question.abstained
    return question.abstained or not (question.is_found if half else question.rank)


@click.command()
@path_option("--home", "The folder for the indexes; default: temporary.")
@click.option("--half", type=click.Choice(["tune", "test"]), help="Ask the plain questions of this half.")
@names_option(way_names(), "--way")
@click.option("--list", "listing", is_flag=True, help="List the questions with wrong outcomes.")
@json_option
def main(home: Path | None, half: Half | None, names: Sequence[str], listing: bool, as_json: bool) -> None:
    """Evaluate search and answers on the sample's questions, or on the plain questions."""
    strings = read_accepted((PLAIN if half else SAMPLE) / "answers.jsonl")
    with question_bar() as progress, tempfile.TemporaryDirectory() as temporary:
        bench, settings = Bench(home or Path(temporary), SAMPLE, progress), Settings.from_environment()
        by_way = {way: ask(bench, None, settings, way) for way in names}
        asked = [] if names else ask(bench, half)
    rows = [way_row(way, of, strings) for way, of in by_way.items()]
    rows += plain_rows(asked, half) if half else sample_rows(asked)
    findings = finding_row(asked, strings)
    if as_json:
        echo_json({"rows": rows, "findings": findings})
        return
    answers = [{"answers": "with strings", **findings}] if findings["questions"] else []
    echo_lines([*table_of(rows), "", *table_of(answers), f"threshold {THRESHOLD}"])
    for topic, question in asked if listing else ():
        if went_wrong(topic, question, half):
            subject = f"{topic['query_id']} {topic.get('scope') or topic['kind']}: rank {question.rank}"
            outcome = f"likelihood {question.likelihood:.3f}, abstained {question.abstained}"
            echo(f"{subject}, {outcome}: {topic['question']}")


if __name__ == "__main__":
    main()
