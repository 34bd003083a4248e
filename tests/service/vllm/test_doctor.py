"""`shrag doctor` before a real vLLM: what it finds, and that it goes nowhere else."""

from tests.service.vllm.models import CONTEXT
from tests.service.vllm.server import MODEL, Running
from tests.stack.asking_the_doctor import doctor, statuses

SUBJECTS = ["reachable", "version", "model", "context", "JSON schema"]


def at(server: Running, **changed):
    """Return the variables that name the model of a server."""
    named = {"llm__base_url": f"{server.url}/v1", "llm__model": MODEL, "llm__max_tokens": 600}
    return named | {"llm__deadline_s": 120} | changed


def test_a_server_that_runs_is_well(vllm: Running, tmp_path):
    code, found = doctor(tmp_path, **at(vllm))

    assert (code, statuses("language model", found)) == (0, dict.fromkeys(SUBJECTS, "ok"))
    assert found["language model", "version"]["found"].startswith("vLLM 0.32")
    assert found["language model", "context"]["found"] == f"{CONTEXT:,} tokens"
