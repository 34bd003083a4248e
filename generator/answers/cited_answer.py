"""An answer with citations and a reference list in a citation style, as a document."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from base.documents.blocks import Block, Document, Heading, Paragraph, Run, plain
from generator.answers.answer import (
    CHECK_WORDS,
    EXTRACTIVE,
    HEADINGS,
    SECTIONS,
    Answer,
    Section,
    not_checked_line,
    quoted,
)
from generator.checking import Check
from indexer.corpora.papers import Language
from retriever.citing.reference_list import entries_of, reference_list
from retriever.reference import csl_item
from retriever.stages.hits import Hit

WRITTEN_BY = {"ko": "언어 모델 {}이(가) 쓴 답", "en": "written by {}"}
REFERENCES = {"ko": "참고 문헌", "en": "References"}
PERIOD = re.compile(r"[.。]$")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer, and the papers that it cites."""

    text: str
    section: Section
    papers: tuple[str, ...]  # doc_ids
    check: Check


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """The parts of an answer that a document contains."""

    title: str
    sentences: tuple[CitedSentence, ...]
    language: Language
    written_by: str
    statement: str = ""  # of an abstention
    question: str = ""

    @property
    def papers(self) -> tuple[str, ...]:
        """The cited papers, in the order of their first citation."""
        return tuple(dict.fromkeys(paper for sentence in self.sentences for paper in sentence.papers))


def cited_answer(answer: Answer, papers: Mapping[str, str], question: str = "") -> CitedAnswer:
    """Return an answer whose sentences cite papers, which are given by passages."""
    sentences = tuple(
        CitedSentence(
            sentence.text,
            sentence.section,
            tuple(dict.fromkeys(papers[cited] for cited in sentence.citations if cited in papers)),
            sentence.check,
        )
        for sentence in answer.sentences
    )
    return CitedAnswer(
        answer.title, sentences, answer.language, answer.written_by, answer.statement, question
    )


def evidence_records(evidence: Iterable[Hit]) -> list[dict[str, Any]]:
    """Return the records of the papers of an answer's evidence, for reference lists."""
    return [{"doc_id": hit.doc_id, "title": hit.passage.title, **hit.paper} for hit in evidence]


def cited_document(answer: CitedAnswer, records: Sequence[Mapping[str, Any]], style: str) -> Document:
    """Return title, sections, reference list and the writer of an answer.

    Args:
        answer: the answer; papers without a record are not cited.
        records: the records of its evidence; without any citation all of them are listed as nearest papers.
        style: the name of a citation style.

    Raises:
        BadFilter: no style has that name.
        LibraryMissing: the CSL processor is not installed.
    """
    known = {item["id"]: item for item in map(csl_item, records)}
    cited = [known[paper] for paper in answer.papers if paper in known]
    made = reference_list(style, cited or known.values(), [sentence.papers for sentence in answer.sentences])
    language = "ko" if answer.language == "ko" else "en"
    heading = REFERENCES[language] if cited else HEADINGS[language]["nearest"]
    references: list[Block] = [Heading(heading, 2), *entries_of(made)] if made.entries else []
    return (*_text(answer, made.citations, language), *references, *_writer(answer, language))


def _text(answer: CitedAnswer, citations: Sequence[str], language: str) -> Iterator[Block]:
    if answer.title:
        yield Heading(quoted(answer.title))
    if answer.question:
        yield Paragraph((Run(quoted(answer.question), italic=True),))
    if answer.statement:
        yield plain(quoted(answer.statement))
    written = list(zip(answer.sentences, citations, strict=True))
    for sentence, citation in written:
        if sentence.section == "passages":
            yield Paragraph(plain(with_citation(sentence, citation, language)).runs, "item")
    for section in SECTIONS:
        if texts := [with_citation(*each, language) for each in written if each[0].section == section]:
            yield Heading(HEADINGS[language][section], 2)
            yield plain(" ".join(texts))


def with_citation(sentence: CitedSentence, citation: str, language: str) -> str:
    """Return a sentence with its citation before the period, and with its check unless it is supported.

    A quoted sentence is in quotation marks, and its citation follows them.
    """
    text = quoted(sentence.text)
    words = CHECK_WORDS[language]
    if sentence.check == "quoted":
        return f"“{text}” {citation}".strip()
    if citation and PERIOD.search(text):
        text = f"{text[:-1]} {citation}{text[-1]}"
    elif citation:
        text = f"{text} {citation}"
    return f"{text} ({words[sentence.check]})" if sentence.check in words else text


def _writer(answer: CitedAnswer, language: str) -> Iterator[Block]:
    if answer.written_by != EXTRACTIVE:
        yield plain(WRITTEN_BY[language].format(quoted(answer.written_by)))
    elif answer.sentences:
        yield plain(not_checked_line(answer.language))
