"""An answer with citations and a reference list in a citation style, as a document."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from base.documents.blocks import Block, Document, Heading, Paragraph, Run, plain
from generator.answers.answer import (
    CHECK_WORDS,
    EXTRACTIVE,
    HEADINGS,
    SECTIONS,
    Answer,
    Sentence,
    not_checked_line,
    quoted,
)
from retriever.citing.reference_list import entries_of, reference_list
from retriever.reference import csl_item
from retriever.stages.hits import Hit

WRITTEN_BY = {"ko": "언어 모델 {}이(가) 쓴 답", "en": "written by {}"}
REFERENCES = {"ko": "참고 문헌", "en": "References"}
PERIOD = re.compile(r"[.。]$")


def citing_papers(answer: Answer, papers: Mapping[str, str]) -> Answer:
    """Return an answer that cites papers, given by passage, in place of passages; others are dropped."""
    sentences = tuple(
        replace(
            sentence,
            citations=tuple(dict.fromkeys(papers[cited] for cited in sentence.citations if cited in papers)),
        )
        for sentence in answer.sentences
    )
    return replace(answer, sentences=sentences)


def evidence_records(evidence: Iterable[Hit]) -> list[dict[str, Any]]:
    """Return the records of the papers of an answer's evidence, for reference lists."""
    return [{"doc_id": hit.doc_id, "title": hit.passage.title, **hit.paper} for hit in evidence]


def cited_document(
    answer: Answer, records: Sequence[Mapping[str, Any]], style: str, question: str = ""
) -> Document:
    """Return title, question, sections, reference list and the writer of an answer.

    Args:
        answer: the answer, which cites papers; those without a record are not cited.
        records: the records of its evidence; without any citation all of them are listed as nearest papers.
        style: the name of a citation style.
        question: the question of the answer, if it is shown.

    Raises:
        BadFilter: no style has that name.
        LibraryMissing: the CSL processor is not installed.
    """
    known = {item["id"]: item for item in map(csl_item, records)}
    citations = [sentence.citations for sentence in answer.sentences]
    cited = [known[paper] for paper in dict.fromkeys(chain.from_iterable(citations)) if paper in known]
    made = reference_list(style, cited or known.values(), citations)
    language = "ko" if answer.language == "ko" else "en"
    heading = REFERENCES[language] if cited else HEADINGS[language]["nearest"]
    references: list[Block] = [Heading(heading, 2), *entries_of(made)] if made.entries else []
    return (*_text(answer, question, made.citations, language), *references, *_writer(answer, language))


def _text(answer: Answer, question: str, citations: Sequence[str], language: str) -> Iterator[Block]:
    if answer.title:
        yield Heading(quoted(answer.title))
    if question:
        yield Paragraph((Run(quoted(question), italic=True),))
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


def with_citation(sentence: Sentence, citation: str, language: str) -> str:
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


def _writer(answer: Answer, language: str) -> Iterator[Block]:
    if answer.written_by != EXTRACTIVE:
        yield plain(WRITTEN_BY[language].format(quoted(answer.written_by)))
    elif answer.sentences:
        yield plain(not_checked_line(answer.language))
