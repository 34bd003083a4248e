"""Questions of a benchmark: seeds from a file, and questions that a model derives from them (SPAR, 4.2)."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from base.errors import InvalidCall
from base.journal import Append
from base.untrusted import one_line
from eval.judging.calls import MOST_DERIVED, QuestionsCall
from eval.judging.folder import QUESTIONS, adding
from eval.judging.records import Question
from eval.manifest import model_record, software
from eval.progress import question_bar
from eval.topics import read_topics
from generator.errors import ModelFailed
from generator.llm import CutAt, LanguageModel, Reply
from generator.model_step import FromModel, ModelStep, UnusableReply, constant
from generator.pipeline import Settings
from generator.prompts import Prompt, load_prompt
from indexer.corpora.papers import language_of

PROMPT = "benchmark_questions"

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), CutAt(500)]


class DerivedQuestions(BaseModel):
    """Reply schema."""

    questions: Annotated[list[Text], Field(min_length=1, max_length=4 * MOST_DERIVED)]


def add_questions(path: Path, seeds: Path, call: QuestionsCall) -> list[str]:
    """Add the seeds of a file, and derive questions from them; return the seeds for which the model failed.

    Raises:
        BadTopics: with file and line.
        InvalidCall: a known query_id has another question.
        ModelNotConfigured: questions are to be derived, and no language model is configured.
        ModelFailed: the model failed for all seeds.
    """
    digest = hashlib.sha256()
    read, settings = read_topics(seeds, digest), Settings.from_environment()
    made_with: dict[str, Any] = {
        "seeds": {"path": str(seeds), "sha256": digest.hexdigest()},
        **software(models=False),
    }
    if call.extend:
        settings.language_model()  # raises ModelNotConfigured
        made_with |= model_record(settings.generator.llm, map(_prompt, read.values()))
    with adding(path, QUESTIONS) as to:
        record = to.benchmark.next_call("questions", call.model_dump(mode="json"), made_with)
        new = _new_seeds(read, to.benchmark.questions, record.number)
        known = [*to.benchmark.questions.values(), *new]
        derived = Counter(each.seed for each in known)
        seeds_by_id = {each.query_id: each for each in known}
        waiting = [seeds_by_id[query_id] for query_id in read if derived[query_id] < call.extend]
        if new or waiting:
            to.append_call(record)
        for each in new:
            to.append(each)
        return asyncio.run(_derive_all(waiting, known, call.extend, settings, record.number, to.append))


def _new_seeds(seeds: Mapping[str, str], known: Mapping[str, Question], call: int) -> list[Question]:
    for query_id, question in seeds.items():
        if query_id in known and known[query_id].question != question:
            raise InvalidCall(
                f"{query_id} is {known[query_id].question[:100]!r} in this benchmark, "
                f"and {question[:100]!r} in the file",
                remedy="give the changed question another query_id",
            )
    return [
        Question(query_id, question, "seed", call)
        for query_id, question in seeds.items()
        if query_id not in known
    ]


async def _derive_all(
    waiting: Sequence[Question],
    known: list[Question],
    count: int,
    settings: Settings,
    call: int,
    append: Append[Question],
) -> list[str]:
    failed: list[str] = []
    if not waiting:
        return failed
    async with settings.language_model() as model:
        with question_bar() as progress:
            for done, seed in enumerate(waiting):
                progress("questions", done, len(waiting))
                try:
                    made = await _derive(seed, count, known, model, call)
                except ModelFailed as error:
                    failed.append(f"{seed.query_id}: {one_line(str(error))}")
                    if len(failed) == len(waiting):
                        raise
                    continue
                for each in made:
                    append(each)
                known += made
    return failed


async def _derive(
    seed: Question, count: int, known: Sequence[Question], model: LanguageModel, call: int
) -> list[Question]:
    """Derive questions from a seed S1 by a model, until it has `count`; their ids are S1.1, S1.2 and so on.

    The prompt requests `count` questions, and known ones are left out.

    Raises:
        ModelFailed: the model failed, or wrote no question that is not known.
    """
    texts = {_letters(each.question) for each in known}
    taken = {each.query_id for each in known}
    missing = count - sum(each.seed == seed.query_id for each in known)

    def read(reply: Reply[DerivedQuestions]) -> Sequence[str]:
        new: dict[str, str] = {}
        for text in reply.value.questions:
            if (letters := _letters(text)) and letters not in texts:
                new.setdefault(letters, " ".join(text.split()))
        if not new:
            raise UnusableReply("repeated known questions")
        return list(new.values())[:missing]

    step: ModelStep[DerivedQuestions, Sequence[str]] = ModelStep(
        "benchmark-questions",
        _prompt(seed.question),
        {"count": str(count), "question": seed.question},
        DerivedQuestions,
        read=read,
        fallback="no further questions",
        otherwise=constant(()),
    )
    made: FromModel[Sequence[str]] = await step.call(model)
    numbers = (number for number in range(1, len(taken) + count + 1))
    ids = (name for number in numbers if (name := f"{seed.query_id}.{number}") not in taken)
    return [
        Question(query_id, text, "extended", call, seed.query_id)
        for query_id, text in zip(ids, made.value, strict=False)
    ]


def _prompt(question: str) -> Prompt:
    return load_prompt(PROMPT, language_of(question))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
