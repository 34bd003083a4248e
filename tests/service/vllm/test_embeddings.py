"""Vectors from a real server are those of the same model in this process."""

import numpy as np
import pytest

from indexer.encoders import Encoder, open_encoder
from indexer.settings import EncoderSettings
from tests.service.vllm.models import DIMENSIONS
from tests.service.vllm.server import MODEL, Server

TEXTS = [
    "간호사의 회복탄력성과 이직 의도",
    "Thermal runaway in lithium-ion battery packs spreads from cell to cell.",
    "벼",
    "논에 물을 대고 빼는 방식을 바꾸면 메탄 배출이 줄어드는가? " * 4,
]

pytestmark = pytest.mark.nightly  # a server of its own


@pytest.fixture(scope="module")
def endpoint(encoder_vllm: Server):
    encoder = open_encoder(
        EncoderSettings(provider="endpoint", base_url=f"{encoder_vllm.url}/v1", model=MODEL)
    )
    assert encoder is not None
    yield encoder
    encoder.close()


@pytest.fixture(scope="module")
def local(encoder_vllm: Server):
    encoder = open_encoder(EncoderSettings(provider="local", model=str(encoder_vllm.model)))
    assert encoder is not None
    yield encoder
    encoder.close()


@pytest.mark.parametrize("kind", ["queries", "passages"])
def test_an_endpoint_gives_the_vectors_of_the_model_in_process(kind: str, endpoint: Encoder, local: Encoder):
    served = getattr(endpoint, f"encode_{kind}")(TEXTS)
    own = getattr(local, f"encode_{kind}")(TEXTS)

    assert served.shape == own.shape == (4, DIMENSIONS)
    assert served.dtype == np.float32
    assert (served * own).sum(axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    assert abs((served[0] * own[1]).sum()) < 0.999  # of another text they differ
