"""Questions of a challenge such as ScienceON's: answers in its form, as a CSV, and their measures.

SHRAG names four criteria of the challenge and defines one of them. A mapping names the columns of the CSV of
questions and of the CSV of answers, which is `answers.csv` of the folder. Each answer has a title and three
sections under the headings of appendix A.2, without the signs * and - as marks; a language model writes it,
or it quotes sentences of the papers found.

Evidence coverage, of section 5.2: share of the questions for which the collected documents include a relevant
one. The other definitions are ours. Retrieval ratio: mean share of a question's relevant documents among the
collected ones. Relevance: mean share of an answer's sentences that cite a relevant document; 0 for an answer
that is declined. Time: seconds from the question to the answer and the collected documents, which share one
strategy; with a model several questions are answered concurrently, unless `--parallel 1` is given. Questions
without relevant documents in the CSV are answered, and not measured.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Annotated, Any

from base.calls import described
from eval.experiments import challenge_files as files
from eval.experiments.challenge_files import ChallengeAnswer
from eval.experiments.comparing import SECONDS, Outcome, Record, Table
from eval.experiments.experiment import Experiment, Results, SampleRun, Topic, TopicResult
from eval.experiments.materials import (
    ARGUMENT,
    FILE,
    SEARCHING,
    IndexCall,
    Inputs,
    documents,
    option,
    strategies,
)
from eval.files import Input
from generator.pipeline import AskResult, answer_question
from generator.ways import make_request
from indexer.corpora.normal_forms import normal_title
from indexer.corpora.papers import language_of
from retriever.calls import METHOD_HELP, METHODS
from retriever.methods import method_named
from retriever.reference import web_address
from retriever.search import SearchRequest, search
from retriever.stages.hits import Hit

ANSWERS = "answers.csv"
COVERAGE, RATIO, RELEVANCE = "evidence coverage", "retrieval ratio", "relevance"
DEFINITIONS = {COVERAGE: "SHRAG, 5.2", RATIO: "ours", RELEVANCE: "ours"}


class Challenge(IndexCall):
    """The questions, the columns, and the documents."""

    questions: str = option("CSV of questions.", flag=ARGUMENT)
    mapping: str = option("Columns of the questions and of the answers, as TOML or JSON.", flag=FILE)
    k: int = documents(15, "Documents collected for each question.")
    method: Annotated[str, described(**METHODS, example="paper")] = option(METHOD_HELP, "paper", SEARCHING)
    strategies: str | None = strategies()


def read(call: Challenge, _: Any) -> Inputs:
    """Read the mapping and the questions, which are `own`."""
    method_named(call.method)
    read = {"questions": Input(call.questions), "mapping": Input(call.mapping)}
    mapping = files.read_mapping(read["mapping"])
    questions = files.read_questions(read["questions"], mapping.questions)
    topics = {query_id: each.question for query_id, each in questions.items()}
    return Inputs(topics=topics, files=read, own=(mapping, questions))


async def answer_of_topic(topic: Topic) -> TopicResult:
    """Collect the documents of a question, answer it, and compare both with the relevant documents."""
    started, call, materials = time.perf_counter(), topic.call, topic.materials
    strategy = await topic.strategy() if method_named(call.method).uses_strategy else None
    given = {"method": call.method, "strategy": strategy}
    # If the model gave no strategy, it is not asked again.
    asked = make_request(materials.settings, topic.question, strategist="statistics", **given)
    answered = await answer_question(materials.index, asked, materials.settings, model=materials.model)
    request = SearchRequest(topic.question, k=call.k, **given)
    hits = (await search(materials.index, request, topic.settings)).hits
    seconds = time.perf_counter() - started
    relevant, language = materials.own[1][topic.query_id].relevant, language_of(topic.question)
    written = ChallengeAnswer.of(answered.answer, topic.question)
    answer = files.without_signs(written)
    text = files.laid_out(answer, language)
    citing, sentences = citing_sentences(answered, relevant)
    record = {
        "documents": [document_of(hit) for hit in hits],
        "answer": asdict(answer),
        "text": text,
        "in form": files.laid_out(written, language) == text,
        "written_by": answered.answer.written_by,
        "abstained": answered.answer.abstained,
        "relevant": len(relevant),
        "collected": sum(any(is_named(hit, name) for hit in hits) for name in relevant),
        "sentences": sentences,
        "citing": citing,
        SECONDS: round(seconds, 3),
    }
    return TopicResult(record, {"collected": [(hit.doc_id, hit.score) for hit in hits]})


def is_named(hit: Hit, name: str) -> bool:
    """Check whether a document is named, by its id, or by its title except for case and punctuation."""
    if name in {hit.doc_id, hit.passage_id}:
        return True
    titles = (hit.passage.title, hit.paper.get("title", ""), hit.paper.get("title2", ""))
    return normal_title(name) in filter(None, map(normal_title, titles))


def citing_sentences(answered: AskResult, relevant: Sequence[str]) -> tuple[int, int]:
    """Return the number of sentences that cite a relevant document, and of all; none of a declined answer."""
    if answered.answer.abstained:
        return 0, 0
    cited = {hit.passage_id for hit in answered.evidence if any(is_named(hit, name) for name in relevant)}
    sentences = answered.answer.sentences
    return sum(not cited.isdisjoint(each.citations) for each in sentences), len(sentences)


def document_of(hit: Hit) -> dict[str, str]:
    """Return the fields of a document for the table of answers."""
    paper = hit.paper
    return {
        "id": hit.doc_id,
        "title": str(paper.get("title") or hit.passage.title),
        "abstract": str(paper.get("abstract") or hit.passage.text),
        "year": str(paper.get("year") or ""),
        "url": web_address(paper),
    }


def summary(of: Results) -> Outcome:
    """Average the measures over the questions with relevant documents, and write the table of answers."""
    mapping, questions = of.materials.own
    topics, judged = of.topics, [topic for topic in of.topics if topic["relevant"]]
    main = measures(judged) if judged else {}
    writers = Counter("declined" if topic["abstained"] else f"by {topic['written_by']}" for topic in topics)
    in_form = of.count(lambda topic: topic["in form"])
    seconds = [topic[SECONDS] for topic in topics]
    times = (
        ("seconds, sum of all questions", sum(seconds)),
        ("seconds for a question, mean", fmean(seconds)),
        ("seconds for a question, longest", max(seconds)),
    )
    title = f"Measures, percent of {len(judged):,} questions, {of.call.k} documents each"
    rows = tuple((name, main.get(name), by) for name, by in DEFINITIONS.items())
    counts = (("in the form as written", in_form), *writers.most_common())
    tables = (
        Table(title, ("measure", "value", "definition"), rows),
        Table(f"Answers to {len(topics):,} questions", ("", "number"), counts),
        Table("Time", ("", "value"), times, timed=True),
    )
    notes = [f"The answers are in {ANSWERS}."]
    if left_out := len(topics) - len(judged):
        notes.append(f"{left_out} questions name no relevant document and are not measured.")
    answered = [
        {**topic["answer"], "id": query_id, "question": each.question, "answer": topic["text"]}
        | {"documents": topic["documents"]}
        for (query_id, each), topic in zip(questions.items(), topics, strict=True)
    ]
    written = {ANSWERS: files.written_table(mapping, answered, of.call.k)}
    return Outcome(tables, notes=tuple(notes), numbers=main, files=written)


def measures(judged: Sequence[Record]) -> dict[str, float]:
    """Return the measures in percent, of at least one question with relevant documents."""
    return {
        COVERAGE: 100 * fmean(topic["collected"] > 0 for topic in judged),
        RATIO: 100 * fmean(topic["collected"] / topic["relevant"] for topic in judged),
        RELEVANCE: 100 * fmean(topic["citing"] / max(1, topic["sentences"]) for topic in judged),
    }


EXPERIMENT = Experiment(
    Challenge,
    answer_of_topic,
    summary,
    read,
    sample=SampleRun(options={"questions": "challenge/questions.csv", "mapping": "challenge/mapping.toml"}),
)
