"""`shrag doctor --offline`: the pipeline with all other addresses refused, and proof that it would tell."""

import asyncio
import json
import socket
import urllib.request

import httpx
import pytest

from generator.pipeline import Settings
from stack.doctor.checks import CHECKS
from stack.doctor.findings import Examined, Finding
from stack.doctor.offline import AddressRefused, addresses, examine_offline, only
from tests.generator.sample_index import settings_of, shrag
from tests.stack.model_server import model_server

OUTSIDE = "192.0.2.1"
KEPT_PROBE = '{"season": "winter", "waves": "rough", "lines": ["salt"]}'  # of the probe's schema and no other


def offline(home, *options, **environment):
    """Run the command, and return its exit code and findings."""
    done = shrag("doctor", "--offline", "--json", *options, home=home, **environment)
    return done.returncode, json.loads(done.stdout)["findings"]


def of_offline(findings):
    """Return the statuses of the check, and what came of the question."""
    found = {each["subject"]: each for each in findings if each["check"] == "offline"}
    statuses = {subject: finding["status"] for subject, finding in found.items()}
    return statuses, found["a question"]


def test_records_are_indexed_and_a_question_is_answered_with_every_address_refused(tmp_path, sample_home):
    code, findings = offline(tmp_path)
    statuses, question = of_offline(findings)
    assert (code, statuses) == (0, {"a question": "ok", "addresses": "ok"})
    assert question["found"].endswith("answer extractive")
    assert offline(sample_home, "--name", "sample")[0] == 0
    assert list(tmp_path.iterdir()) == []  # nothing is left in the home


@pytest.mark.parametrize("message", [None, {"content": KEPT_PROBE}], ids=["answers", "fails"])
def test_the_model_of_the_settings_may_be_asked_and_fails_although_an_answer_is_quoted(tmp_path, message):
    with model_server(message=message) as server:
        model = {"base_url": server.base_url, "model": "tiny-writer", "retries": 0}
        code, findings = offline(tmp_path, **{f"llm__{name}": value for name, value in model.items()})
    statuses, question = of_offline(findings)
    assert (code, statuses["addresses"], question["status"]) == (
        bool(message),
        "ok",
        "wrong" if message else "ok",
    )
    if message:
        assert "extractive answer" in question["found"]
        assert "language model" in question["remedy"]
        return
    assert question["found"].endswith("answer tiny-writer")
    asked = [body["response_format"]["json_schema"]["name"] for body in server.bodies]
    assert asked == ["probe", "keywords", "keywords", "answer"]  # keywords of each language


def test_an_attempt_to_leave_is_wrong_and_told_with_its_stack(tmp_path, monkeypatch):
    def phones_home(examined):
        with socket.socket() as sock:
            sock.connect((OUTSIDE, 443))
        yield Finding("", "ok", "")

    monkeypatch.setitem(CHECKS, "phones home", phones_home)
    findings = examine_offline(Examined(settings_of(tmp_path)))
    refused = next(finding for finding in findings if finding.subject == f"{OUTSIDE}:443")
    assert refused.status == "wrong"
    assert "in phones_home" in refused.found
    assert any(finding.check == "phones home" and "AddressRefused" in finding.found for finding in findings)


def test_the_addresses_are_those_of_the_settings_that_are_in_use(monkeypatch):
    monkeypatch.setenv("SHRAG_LLM__BASE_URL", "http://model:8000/v1")
    monkeypatch.setenv("SHRAG_LLM__MODEL", "m")
    monkeypatch.setenv("SHRAG_ELASTICSEARCH__URL", "http://one:9200, http://two:9200")
    assert addresses(Settings.from_environment()) == ["http://model:8000/v1"]
    monkeypatch.setenv("SHRAG_ENGINE", "elasticsearch")
    assert addresses(Settings.from_environment()) == [
        "http://model:8000/v1",
        "http://one:9200",
        "http://two:9200",
    ]


@pytest.mark.parametrize("outside", [OUTSIDE, "outside.invalid"])
def test_no_library_connects_to_another_address_while_the_guard_is_active(outside):
    def by_asyncio():
        asyncio.run(asyncio.wait_for(asyncio.open_connection(outside, 443), 5))

    calls = [
        lambda: socket.create_connection((outside, 443), timeout=1),
        lambda: urllib.request.urlopen(f"http://{outside}/", timeout=1),
        lambda: httpx.get(f"http://{outside}/", timeout=1),
        by_asyncio,
    ]
    with only(["http://localhost:1"]) as watch:
        for call in calls:
            with pytest.raises((AddressRefused, OSError, httpx.ConnectError)):
                call()
    assert len(watch.attempts) == len(calls)
    assert all(target.startswith(outside) for target, _ in watch.attempts)


def test_a_configured_address_is_reached_and_others_again_after_the_guard():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with only([f"http://localhost:{port}"]) as watch, socket.create_connection(("localhost", port)):
            assert (watch.passed, watch.attempts) == (1, [])
        with only([]) as watch, pytest.raises(AddressRefused):
            socket.create_connection(("127.0.0.1", port))
        socket.create_connection(("127.0.0.1", port)).close()
