"""What the pipeline itself takes of a question: everything but the model's own time."""

import time
from collections.abc import Sequence

from eval.experiments.bench.figures import Figure, median, percentile
from eval.experiments.bench.model_calls import Again, Call, Recording
from generator.llm import LanguageModel
from generator.pipeline import Settings, answer_question
from indexer.requests import Progress
from retriever.index import SearchIndex

PART = "pipeline"
BAR_MS = 60.0


async def measure_overhead(
    index: SearchIndex, questions: Sequence[str], settings: Settings, rounds: int, progress: Progress
) -> list[Figure]:
    """Ask one question after the other.

    What is left of a question's time without its chat calls, from sending to the last byte, is the
    pipeline's: what it does while the model still writes costs nobody time. Then the same questions with
    the recorded answers given at once, so that reading them is counted too.
    """
    recording = Recording()
    own: list[float] = []
    async with LanguageModel(settings.generator.llm, transport=recording) as model:
        await answer_question(index, settings.request(questions[0]), settings, model=model)
        for number in range(rounds):
            for place, question in enumerate(questions):
                own.append(await _left(index, question, settings, model, recording))
                progress("overhead", number * len(questions) + place + 1, rounds * len(questions))
    calls = [call for call in recording.calls if call.chat]
    processor = time.process_time()
    whole = await _given_at_once(index, questions, settings, rounds, recording.calls)
    processor = time.process_time() - processor
    return [
        Figure(PART, "own time of a question, p50", median(own), "ms", BAR_MS),
        Figure(PART, "own time of a question, p95", percentile(own, 0.95), "ms"),
        Figure(PART, "answers given at once, p50", median(whole), "ms"),
        Figure(PART, "answers given at once, p95", percentile(whole, 0.95), "ms"),
        Figure(PART, "processor time of that, mean", 1000 * processor / (len(whole) + 1), "ms"),
        Figure(PART, "the model's time of a question, mean", _total(calls) / (len(own) + 1), "ms"),
        Figure(PART, "pieces that an answer comes in, mean", _pieces(calls) / len(calls)),
    ]


async def _left(
    index: SearchIndex, question: str, settings: Settings, model: LanguageModel, recording: Recording
) -> float:
    before, started = len(recording.calls), time.perf_counter()
    await answer_question(index, settings.request(question), settings, model=model)
    spent = time.perf_counter() - started
    return 1000 * (spent - sum(call.seconds for call in recording.calls[before:] if call.chat))


async def _given_at_once(
    index: SearchIndex, questions: Sequence[str], settings: Settings, rounds: int, calls: Sequence[Call]
) -> list[float]:
    spent = []
    async with LanguageModel(settings.generator.llm, transport=Again(calls)) as model:
        for question in [*questions[:1], *list(questions) * rounds]:
            started = time.perf_counter()
            await answer_question(index, settings.request(question), settings, model=model)
            spent.append(1000 * (time.perf_counter() - started))
    return spent[1:]


def _total(calls: Sequence[Call]) -> float:
    return 1000 * sum(call.seconds for call in calls)


def _pieces(calls: Sequence[Call]) -> int:
    return sum(len(call.pieces) for call in calls)
