"""Do many questions at once keep a server busy? Beside the very same prompts, sent bare."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from eval.experiments.bench.figures import Figure, median
from eval.experiments.bench.model_calls import Call, Recording, tokens_of
from generator.llm import LanguageModel
from generator.pipeline import Settings, answer_question
from indexer.requests import Progress
from retriever.index import SearchIndex

PART = "at once"
BAR = 0.9


@dataclass(frozen=True, slots=True)
class Round:
    """What one way brought: calls, tokens written, seconds."""

    calls: int
    tokens: int
    seconds: float

    @property
    def speed(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds


async def measure_throughput(
    index: SearchIndex, questions: Sequence[str], settings: Settings, rounds: int, progress: Progress
) -> list[Figure]:
    """Ask all questions at once and send the prompts recorded of that, in turn; compare the medians.

    The bare client keeps as many requests under way as there are questions, the next one of the list as soon
    as one ends: it never waits for a search, nor for a question's keywords before its answer.
    """
    warm, recorded = await through_the_pipeline(index, questions, settings)
    await bare(recorded, len(questions), settings)
    through: list[Round] = []
    direct: list[Round] = []
    for number in range(rounds):
        one, recorded = await through_the_pipeline(index, questions, settings)
        through.append(one)
        direct.append(await bare(recorded, len(questions), settings))
        progress("at once", number + 1, rounds)
    ratio = median([one.speed for one in through]) / median([one.speed for one in direct])
    return [
        Figure(
            PART,
            f"{len(questions)} questions by their prompts, bare",
            ratio,
            bar=BAR,
            higher_is_better=True,
        ),
        Figure(PART, "through the pipeline, median", median([one.speed for one in through]), "tokens/s"),
        Figure(PART, "sent bare, median", median([one.speed for one in direct]), "tokens/s"),
        Figure(PART, "seconds of a round, pipeline", median([one.seconds for one in through]), "s"),
        Figure(PART, "seconds of a round, bare", median([one.seconds for one in direct]), "s"),
        Figure(PART, "calls of a round", warm.calls),
        Figure(PART, "tokens of a round", warm.tokens),
    ]


async def through_the_pipeline(
    index: SearchIndex, questions: Sequence[str], settings: Settings
) -> tuple[Round, list[Call]]:
    """Ask all questions at once, with one open model."""
    recording = Recording()
    async with LanguageModel(settings.generator.llm, transport=recording) as model:
        started = time.perf_counter()
        requests = map(settings.request, questions)
        await asyncio.gather(*(answer_question(index, each, settings, model=model) for each in requests))
        seconds = time.perf_counter() - started
    calls = [call for call in recording.calls if call.chat]
    tokens = sum(tokens_of(b"".join(call.pieces)) for call in calls)
    return Round(len(calls), tokens, seconds), calls


async def bare(calls: Sequence[Call], at_once: int, settings: Settings) -> Round:
    """Send recorded calls with nothing but an HTTP client, and read their answers."""
    key = settings.generator.llm.api_key
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key.get_secret_value()}"
    left = list(reversed(calls))
    answers: list[bytes] = []
    unlimited = httpx.Limits(max_connections=None, max_keepalive_connections=None)

    async def send_the_next() -> None:
        while left:
            call = left.pop()
            async with client.stream("POST", call.url, content=call.body) as response:
                answers.append(b"".join([piece async for piece in response.aiter_raw()]))

    timeout = settings.generator.llm.deadline_s
    async with httpx.AsyncClient(
        headers=headers, timeout=timeout, limits=unlimited, trust_env=False
    ) as client:
        started = time.perf_counter()
        await asyncio.gather(*(send_the_next() for _ in range(at_once)))
        seconds = time.perf_counter() - started
    return Round(len(answers), sum(map(tokens_of, answers)), seconds)
