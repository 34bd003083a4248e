"""Questions of a benchmark: seeds from a file, and questions that a model derives from them (SPAR, 4.2)."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from base.errors import InvalidCall
from base.untrusted import one_line
from eval.collection import read_topics
from eval.files import Input
from eval.judging.benchmark import Benchmark, Question, adding
from eval.manifest import model_record, software
from eval.progress import question_bar, work_through
from generator.llm import LanguageModel, Reply
from generator.model_step import ModelStep, UnusableReply, constant
from generator.pipeline import Settings
from generator.prompts import Prompt, load_prompt
from indexer.corpora.papers import language_of

MOST_DERIVED = 20  # questions of one seed

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class DerivedQuestions(BaseModel):
    """Reply schema."""

    questions: Annotated[list[Text], Field(min_length=1, max_length=4 * MOST_DERIVED)]


def add_questions(path: Path, seeds: Path, wanted: int) -> list[str]:
    """Add the seeds of a file, and derive `wanted` questions from each.

    Returns the seeds for which the model failed.
    """
    read, settings = read_topics(file := Input(seeds)), Settings.from_environment()
    made_with: dict[str, Any] = {"seeds": file.record, **software(models=False)}
    if wanted:
        settings.language_model()  # raises ModelNotConfigured
        made_with |= model_record(settings.generator.llm, map(_prompt, read.values()))
    with adding(path) as benchmark:
        known, new = benchmark.questions, list[Question]()
        record = benchmark.next_call("questions", {"extend": wanted}, made_with)
        for query_id, question in read.items():
            if query_id not in known:
                new.append(Question(query_id, question, "seed", record.number))
            elif known[query_id].question != question:
                raise InvalidCall(
                    f"{query_id} is {known[query_id].question[:100]!r} in this benchmark, "
                    f"and {question[:100]!r} in the file",
                    remedy="give the changed question another query_id",
                )
        known |= {each.query_id: each for each in new}
        derived = Counter(each.seed for each in known.values())
        waiting = {each: known[each] for each in read if derived[each] < wanted}
        if new or waiting:
            benchmark.append(record, *new)
        if not waiting:
            return []
        return asyncio.run(_derive_all(benchmark, waiting, wanted, settings, record.number))


async def _derive_all(
    benchmark: Benchmark, waiting: Mapping[str, Question], wanted: int, settings: Settings, call: int
) -> list[str]:
    known = benchmark.questions
    async with settings.language_model() as model:

        async def derive(seed_id: str, seed: Question) -> None:
            texts = await _derive(seed, wanted, list(known.values()), model)
            # The questions derived from S1 are S1.1, S1.2 and so on.
            ids = (f"{seed_id}.{number}" for number in count(1))
            free = (query_id for query_id in ids if query_id not in known)
            made = [
                Question(query_id, text, "extended", call, seed_id)
                for text, query_id in zip(texts, free, strict=False)
            ]
            benchmark.append(*made)
            known.update({each.query_id: each for each in made})

        with question_bar() as progress:
            failed = await work_through(waiting, derive, progress=progress)
    return [f"{query_id}: {one_line(str(error))}" for query_id, error in failed.items()]


async def _derive(
    seed: Question, wanted: int, known: Sequence[Question], model: LanguageModel
) -> Sequence[str]:
    """Derive questions from a seed by a model, so that it has `wanted` ones; known ones are left out."""
    texts = {_letters(each.question) for each in known}
    missing = wanted - sum(each.seed == seed.query_id for each in known)

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
        {"count": str(wanted), "question": seed.question},
        DerivedQuestions,
        read=read,
        fallback="no further questions",
        otherwise=constant(()),
    )
    return (await step.call(model)).value


def _prompt(question: str) -> Prompt:
    return load_prompt("benchmark_questions", language_of(question))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
