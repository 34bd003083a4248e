"""The step `questions`: seeds of a file, and questions derived from them, added to the folder."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from base.journal import Append
from base.untrusted import one_line
from eval.judging.calls import QuestionsCall
from eval.judging.folder import CALLS, QUESTIONS, writing
from eval.judging.inputs import model_record
from eval.judging.questions import derive, new_seeds, prompt_of
from eval.judging.records import Question
from eval.judging.state import Benchmark, next_call
from eval.manifest import software
from eval.progress import question_bar
from eval.topics import read_topics
from generator.errors import ModelFailed
from generator.pipeline import Settings


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
        prompts = map(prompt_of, read.values())
        versions = {f"{prompt.name}.{prompt.language}": prompt.version for prompt in prompts}
        made_with |= model_record(settings.generator.llm, versions)
    with writing(path, CALLS, QUESTIONS) as (append_call, append):
        benchmark = Benchmark(path)
        record = next_call(benchmark, "questions", call.model_dump(mode="json"), made_with)
        new = new_seeds(read, benchmark.questions, record.number)
        known = [*benchmark.questions.values(), *new]
        waiting = _to_extend(known, read, call.extend)
        if new or waiting:
            append_call(record)
        for each in new:
            append(each)
        return asyncio.run(_derive_all(waiting, known, call.extend, settings, record.number, append))


def _to_extend(known: Sequence[Question], read: Iterable[str], count: int) -> list[Question]:
    """Return the seeds of a file with fewer than `count` derived questions."""
    derived = Counter(each.seed for each in known)
    seeds = {each.query_id: each for each in known}
    return [seeds[query_id] for query_id in read if derived[query_id] < count]


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
                    made = await derive(seed, count, known, model, call)
                except ModelFailed as error:
                    failed.append(f"{seed.query_id}: {one_line(str(error))}")
                    if len(failed) == len(waiting):
                        raise
                    continue
                for each in made:
                    append(each)
                known += made
    return failed
