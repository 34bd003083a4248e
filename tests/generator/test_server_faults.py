"""Whatever a model server answers, whoever asks it: the call ends in time and in one line."""

import asyncio

import pytest

from generator.errors import ModelFailed
from generator.llm import LanguageModel
from generator.strategist import reply_schema
from indexer.encoders.endpoint import EndpointEncoder
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings
from tests.generator.language_model import settings
from tests.generator.server_faults import FAULTS, faulty_server

LIMIT_S = 0.25
SHORT = {"model": "m", "first_token_s": LIMIT_S, "between_tokens_s": LIMIT_S, "timeout_s": 2 * LIMIT_S}


async def _no_pause(_: float) -> None:
    """Go on at once."""


@pytest.fixture(scope="module")
def address():
    with faulty_server() as served:
        yield served


@pytest.fixture(params=FAULTS)
def url(request, address):
    """Yield the address of each fault."""
    return f"{address}/n{list(FAULTS).index(request.param)}/v1"


@pytest.mark.parametrize("stream", [True, False])
def test_a_chat_call_ends(url, stream):
    async def ask():
        async with LanguageModel(settings(base_url=url, stream=stream, **SHORT)) as model:
            await model.complete_json(
                [{"role": "user", "content": "강"}], reply_schema(("ko", "en"), 2, 5), name="keywords"
            )

    with pytest.raises(ModelFailed) as caught:
        asyncio.run(ask())
    assert_one_line(caught.value)


def test_an_encoder_does_not_open(url):
    given = EncoderSettings(provider="endpoint", base_url=url, model="m", timeout_s=LIMIT_S)
    with pytest.raises(EncoderUnusable) as caught:
        EndpointEncoder(given, sleep=_no_pause)
    assert_one_line(caught.value)


def assert_one_line(error):
    assert "\n" not in str(error)
    assert 0 < len(str(error)) < 1_000
