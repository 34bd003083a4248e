"""A process of its own that asks a faulty server in one way: how each fault ends, how soon, in what memory.

    python -m tests.generator.meeting_faults WAY ADDRESS

prints a line of JSON for each fault: what came, seconds of computing, MB above what a good answer had taken.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir

from generator.errors import ModelFailed
from generator.llm import LanguageModel
from generator.llm.limits import Limit, now
from generator.strategist import reply_schema
from indexer.encoders.endpoint import EndpointEncoder
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings
from stack.doctor.checks import language_model as doctor
from stack.doctor.findings import Examined
from tests.generator.language_model import answers_with, served, settings
from tests.generator.sample_index import settings_of
from tests.generator.server_faults import FAULTS

LIMIT_S = 0.25
MESSAGES = [{"role": "user", "content": "강"}]
KEYWORD_LISTS = reply_schema(("ko", "en"), 2, 5)
SHORT = {"model": "m", "first_token_s": LIMIT_S, "between_tokens_s": LIMIT_S, "timeout_s": 2 * LIMIT_S}
MOST_MEMORY = 4 << 30  # addresses, which are more than what is used


async def _no_pause(_: float) -> None:
    """Go on at once."""


def chat(base_url: str, *, stream: bool = True) -> str:
    """Ask for keywords."""

    async def ask() -> str:
        async with LanguageModel(settings(base_url=base_url, stream=stream, **SHORT)) as model:
            try:
                await model.complete_json(MESSAGES, KEYWORD_LISTS, name="keywords")
            except ModelFailed as error:
                return f"{type(error).__name__}: {error}"
            return "answered"

    return asyncio.run(ask())


def beside(base_url: str, *, tokens: bool) -> str:
    """Ask for the size of the context, or for the number of tokens; both may fail without harm."""

    async def ask() -> str:
        async with LanguageModel(settings(base_url=base_url, **SHORT)) as model:
            limit = Limit(now() + LIMIT_S, LIMIT_S, "answer_s")
            if tokens:
                return f"counted by {(await model.counter(limit)(MESSAGES)).counted_by}"
            return f"said by {(await model.context(limit)).said_by}"

    return asyncio.run(ask())


def embeddings(base_url: str) -> str:
    """Open an encoder."""
    given = EncoderSettings(provider="endpoint", base_url=base_url, model="m", timeout_s=LIMIT_S)
    try:
        EndpointEncoder(given, sleep=_no_pause).close()
    except EncoderUnusable as error:
        return f"{type(error).__name__}: {error}"
    return "opened"


def check(base_url: str) -> str:
    """Let the doctor look at it."""
    llm = settings(base_url=base_url, **SHORT)
    home = Path(gettempdir()) / "no-home"
    doctor.LOOK_S = LIMIT_S
    found = list(doctor.check_language_model(Examined(settings_of(home, llm=llm))))
    return f"{found[-1].status}: {found[-1].found}"


WAYS: dict[str, Callable[[str], str]] = {
    "chat, streamed": chat,
    "chat, whole": lambda base_url: chat(base_url, stream=False),
    "models": lambda base_url: beside(base_url, tokens=False),
    "tokenize": lambda base_url: beside(base_url, tokens=True),
    "embeddings": embeddings,
    "doctor": check,
    "doctor, at the schema": lambda base_url: check(base_url.replace("/n", "/p")),
}


def peak_mb() -> float:
    """Return the most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(way: str, address: str) -> None:
    """Meet all faults in one way."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with served(answers_with({"ko": ["강", "하천"], "en": ["river", "stream"]})) as server:
        WAYS[way](server.base_url)
    before = peak_mb()
    for number, name in enumerate(FAULTS):
        began = time.process_time()
        came = WAYS[way](f"{address}/n{number}/v1")
        line = {"fault": name, "came": came, "seconds": time.process_time() - began, "mb": peak_mb() - before}
        print(json.dumps(line), flush=True)  # noqa: T201 - read by the tests


if __name__ == "__main__":
    main(*sys.argv[1:])
