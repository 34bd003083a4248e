"""One call of a real server: JSON of the schema, counts, seeds, cuts, cancellation, and what it refuses."""

import asyncio
import contextlib
import itertools
from typing import Annotated, Any, Literal

import httpx
import pytest
from pydantic import BaseModel, Field

from generator.errors import ModelAnswerInvalid, ModelRefusedCall
from generator.llm import Growth, LanguageModel
from generator.settings import LanguageModelSettings
from tests.service.vllm.conftest import settings_for
from tests.service.vllm.server import MODEL, Running

RUNNING = "vllm:num_requests_running"
WRITTEN = "vllm:generation_tokens_total"
ASKED = [{"role": "user", "content": "회복탄력성을 다룬 논문을 두 편 들라. Name two papers."}]

Short = Annotated[str, Field(min_length=1, max_length=20)]


class Paper(BaseModel):
    title: Short
    year: Annotated[int, Field(ge=1900, le=2100)]
    language: Literal["ko", "en"]
    reviewed: bool


class Papers(BaseModel):
    papers: Annotated[list[Paper], Field(min_length=2, max_length=3)]


class LongText(BaseModel):
    """Of a length that no test waits for."""

    text: Annotated[str, Field(min_length=9_000, max_length=10_000)]


async def call(settings: LanguageModelSettings, schema: type[BaseModel], asked: Any = ASKED, **options):
    async with LanguageModel(settings) as model:
        return await model.complete_json(asked, schema, name="test", **options)


def test_an_answer_is_json_of_the_schema_which_grows_and_whose_tokens_are_counted(vllm: Running, settings):
    grown: list[Growth] = []

    reply = asyncio.run(call(settings, Papers, on_text=grown.append))

    assert isinstance(reply.value, Papers)
    assert 2 <= len(reply.value.papers) <= 3
    assert (reply.model, reply.finish_reason, reply.attempts, reply.repaired) == (MODEL, "stop", 1, False)
    texts = [one.text for one in grown if one.text]
    assert len(texts) > 10
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(texts))
    assert texts[-1] == reply.text
    assert 0 < reply.first_token_ms <= reply.milliseconds
    whole = {"model": MODEL, "messages": ASKED, "chat_template_kwargs": {"enable_thinking": False}}
    counted = httpx.post(f"{vllm.url}/tokenize", json=whole, timeout=240, trust_env=False).json()
    assert reply.prompt_tokens == counted["count"]
    assert 10 < reply.completion_tokens < 600


def test_an_answer_that_is_cut_off_is_mended_once_and_then_told(settings):
    few = settings.model_copy(update={"max_tokens": 16})

    with pytest.raises(ModelAnswerInvalid, match=r"after one repair: .* cut off at 16 tokens") as told:
        asyncio.run(call(few, Papers))

    assert "Raise SHRAG_LLM__MAX_TOKENS" in str(told.value)
    assert told.value.text.lstrip().startswith("{")


def test_a_model_that_the_server_does_not_have_is_refused_with_the_next_step(settings):
    with pytest.raises(ModelRefusedCall, match=r"answered 404 .*/models") as refused:
        asyncio.run(call(settings.model_copy(update={"model": "another"}), Papers))
    assert refused.value.status == 404


def test_a_prompt_beyond_the_context_is_refused_by_name(settings):
    long = [{"role": "user", "content": "논문 " * 40_000}]
    with pytest.raises(ModelRefusedCall, match="context") as refused:
        asyncio.run(call(settings, Papers, long))
    assert refused.value.status == 400


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_call_that_is_cancelled_stops_the_server_too(vllm: Running, stream: bool):
    async def begin_and_cancel() -> None:
        endless = settings_for(f"{vllm.url}/v1", max_tokens=12_000, stream=stream)
        task = asyncio.create_task(call(endless, LongText))
        await asyncio.to_thread(vllm.wait_for_metric, RUNNING, 1)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    before = vllm.metric(WRITTEN)
    asyncio.run(begin_and_cancel())

    vllm.wait_for_metric(RUNNING, 0)
    assert vllm.metric(WRITTEN) - before < 9_000
