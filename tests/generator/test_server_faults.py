"""Whatever a server does, whoever asks it: it ends in time, in one line, in little memory."""

import json
import subprocess
import sys

import pytest

from tests.generator.meeting_faults import WAYS
from tests.generator.server_faults import FAULTS, faulty_server
from tests.needs import mostly_nightly

pytestmark = pytest.mark.slow

WHOLE_S = 1_000  # for all faults, with their tries, on a busy machine; without a limit one has no end
COMPUTING_S = 30
MOST_MB = 300
GAVE_UP = {
    "chat, streamed": "Model",
    "chat, whole": "Model",
    "models": "said by nobody",
    "tokenize": "counted by bytes",
    "embeddings": "EncoderUnusable: ",
    "doctor": "wrong: ",
    "doctor, at the schema": "wrong: ",
}


@pytest.fixture(
    scope="module",
    params=mostly_nightly(WAYS, by_day={"chat, streamed", "embeddings"}),
)
def met(request):
    """Yield a way of asking, and how each fault ended in it."""
    with faulty_server() as address:
        command = [sys.executable, "-m", "tests.generator.meeting_faults", request.param, address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WHOLE_S, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return request.param, {line["fault"]: line for line in lines}


@pytest.mark.timeout(WHOLE_S + 100)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_in_time_in_one_line_and_in_little_memory(met, fault):
    way, ends = met
    end = ends[fault]
    assert end["came"].startswith(GAVE_UP[way]), end
    assert "\n" not in end["came"]
    assert len(end["came"]) < 1_000
    assert end["seconds"] < COMPUTING_S
    assert end["mb"] < MOST_MB
