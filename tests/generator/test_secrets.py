"""A key goes to the server that the settings name, whose certificate fits, and nowhere else."""

import json
import os
import subprocess
import sys
from traceback import format_exception

import pytest
from pydantic import SecretStr

from generator.errors import ModelFailed
from generator.pipeline import run
from generator.settings import GeneratorSettings, LanguageModelSettings
from indexer.encoders.endpoint import EndpointEncoder
from indexer.errors import EncoderUnusable
from indexer.settings import ElasticsearchSettings, EncoderSettings, IndexerSettings
from stack.doctor.findings import Examined
from stack.doctor.models import check_language_model
from tests.generator.language_model import events, streams
from tests.generator.river import RIVER, ask, call
from tests.generator.sample_index import KOREAN, NAME, settings_of
from tests.generator.server_faults import EVENTS, HTML, bodies, faulty_server, sends
from tests.indexer.made_corpora import ROOT, environment_of
from tests.needs import mostly_nightly

KEY = 'sk-geheim/"7'
WRITTEN = json.dumps(KEY)
ECHOES = {
    "an error": bodies(json.dumps({"error": {"message": f"no key {KEY}"}}).encode(), status="401 No"),
    "a page": bodies(f"<p>{KEY}</p>".encode(), HTML),
    "a status": sends(f"HTTP/1.1 404 {KEY}\r\nContent-Length: 0\r\n\r\n".encode()),
    "no HTTP": sends(f"what is {KEY}\r\n\r\n".encode()),
    "an error in a stream": bodies(f'data: {{"error": {{"message": {WRITTEN}}}}}\n\n'.encode(), EVENTS),
    "a refusal": bodies(json.dumps({"choices": [{"message": {"refusal": f"{KEY}!"}}]}).encode()),
    "prose": bodies(
        json.dumps({"model": KEY, "choices": [{"message": {"content": f"answered {KEY}"}}]}).encode()
    ),
    "models": bodies(json.dumps({"data": [{"id": KEY}]}).encode()),
}


@pytest.fixture
def echoing(request, monkeypatch):
    """Run a server that repeats the key, and yield where."""
    monkeypatch.setattr("tests.generator.server_faults.FAULTS", {"echo": ECHOES[request.param]})
    with faulty_server() as address:
        yield f"{address}/n0/v1"


@pytest.mark.parametrize("echoing", ECHOES, indirect=True)
def test_a_key_that_a_server_repeats_is_in_no_error_and_no_traceback(echoing, tmp_path):
    of_model = {"base_url": echoing, "model": "m", "api_key": KEY, "retries": 1, "backoff_s": 0}
    given = LanguageModelSettings.model_validate(of_model)
    with pytest.raises(ModelFailed) as failed:
        run(call(given))
    encoder = EncoderSettings(provider="endpoint", base_url=echoing, api_key=SecretStr(KEY), timeout_s=5)
    with pytest.raises(EncoderUnusable) as unusable:
        EndpointEncoder(encoder)
    found = list(check_language_model(Examined(settings_of(tmp_path, llm=given))))
    errors = list(map(format_exception, (failed.value, unusable.value)))
    assert "geheim" not in str([errors, found, getattr(failed.value, "text", "")])


def everything(folder, home, *arguments, **given):
    """Run a command with all that it says; return the output and all files that it wrote."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "shrag.py"), "--debug", "-vv", *arguments],
        env=os.environ | environment_of(home, **given),
        capture_output=True,
        timeout=120,
        check=False,
    )
    written = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    return done.stdout + done.stderr + written


@pytest.mark.parametrize(
    "echoing", mostly_nightly(["a status", "a page", "prose"], by_day={"prose"}), indirect=True
)
def test_a_key_that_a_server_repeats_is_in_no_output_trace_recording_or_run(sample_home, tmp_path, echoing):
    given = {"base_url": echoing, "model": "m", "api_key": KEY, "retries": "0"}
    given = {f"llm__{name}": value for name, value in given.items()}
    given |= {"cache__mode": "record", "cache__file": str(tmp_path / "calls.sqlite")}
    topics = tmp_path / "topics.tsv"
    topics.write_text(f"1\t{KOREAN}\n")
    traced = ("ask", KOREAN, "--json", "--trace", str(tmp_path / "trace.json"))
    made = ("eval", "run", str(topics), "--strategist", "model", "--out", str(tmp_path / "run"))
    for arguments in (traced, made):
        left = everything(tmp_path, sample_home, *arguments, "--name", NAME, **given)
        assert b"answered" in left
        assert b"geheim" not in left


def test_a_key_that_comes_in_pieces_is_hidden_in_the_answer():
    _, reply = ask(streams(*events(f"{KEY}: {json.dumps(RIVER)}")), api_key=KEY)
    assert reply.text == f"***: {json.dumps(RIVER)}"


LLM = LanguageModelSettings(base_url="https://model.test/v1", model="m", api_key=SecretStr(KEY))
ENCODER = EncoderSettings(provider="endpoint", base_url="https://model.test/v1", api_key=SecretStr(KEY))
CLUSTER = ElasticsearchSettings(api_key=SecretStr(KEY), password=SecretStr(KEY))


@pytest.mark.parametrize(
    "settings",
    [GeneratorSettings(llm=LLM), IndexerSettings(encoder=ENCODER, elasticsearch=CLUSTER)],
    ids=lambda settings: type(settings).__name__,
)
def test_settings_show_no_secret(settings):
    shown = repr(settings) + str(settings) + settings.model_dump_json() + str(settings.model_dump())
    assert "geheim" not in shown
