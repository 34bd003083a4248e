"""Inputs of an experiment on questions about papers: an index, and questions with reference answers."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from base.calls import Flag
from eval.errors import BadTopics
from eval.experiments.experiment import IndexCall
from eval.experiments.materials import Materials, opened_index, settings_for
from eval.files import Input
from eval.query_lines import PaperQuestion, read_paper_questions
from retriever.errors import BadFilter, BadQuestion, UnknownPaper
from retriever.index import SearchIndex
from retriever.papers.topics import find_topic
from retriever.queries.filters import Filters
from retriever.request import check_question


class QuestionCall(IndexCall):
    """The options of an experiment on an index and questions of the user."""

    files = ("questions",)

    questions: Annotated[
        str, Flag(argument=True), Field(description="File of questions with reference answers, JSON lines.")
    ]


@dataclass(frozen=True, slots=True)
class QuestionMaterials(Materials):
    """An index, and questions with reference answers by query_id."""

    questions: Mapping[str, PaperQuestion] = field(default_factory=dict)


@contextmanager
def opened_questions(call: QuestionCall) -> Iterator[QuestionMaterials]:
    """Read the questions and open the index.

    Raises:
        BadTopics: as `read_paper_questions`; also a question that cannot be searched for, or a topic that is
            not a paper of the index.
        ResourceError: as `open_index`.
    """
    read = Input(call.questions)
    questions = read_paper_questions(call.questions, read)
    settings = settings_for(call)
    with opened_index(call.index, settings) as index:
        asyncio.run(_check(index, questions.values(), call.questions))
        texts = {query_id: question.question for query_id, question in questions.items()}
        yield QuestionMaterials(index, texts, settings, inputs={"questions": read}, questions=questions)


async def _check(index: SearchIndex, questions: Iterable[PaperQuestion], path: str) -> None:
    for each in questions:
        try:
            check_question(each.question)
            if each.topic is not None:
                await find_topic(index, each.topic, Filters())
        except (BadQuestion, BadFilter, UnknownPaper) as error:
            raise BadTopics(f"{path}: {each.query_id}: {error}") from None
