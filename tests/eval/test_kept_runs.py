"""Runs that are killed, interrupted, or fail for some questions: what is kept, and how they go on."""

import json
import signal
import subprocess
import threading
from typing import ClassVar

import pytest

from tests.eval.conftest import QUESTIONS, TOPICS
from tests.generator.sample_index import NAME, shrag
from tests.http_server import Handler, serving
from tests.indexer.made_corpora import command, environment_of
from tests.interrupts import interrupts_heeded

pytestmark = pytest.mark.slow

ENDS_S = 120  # that a machine with much else to do may need


def call(out, *options):
    return ("eval", "run", TOPICS, "--name", NAME, "--method", "paper", "--out", out, *options)


ASKING = ("--strategist", "model")


def stopped(home, arguments, model, at, sent):
    """Run, and send a signal when the model is asked for the time `at`; return the code and what was said."""
    ended, started = threading.Event(), threading.Event()
    first = len(model.prompts)

    def on_call(count):
        if count - first < at:
            return 200
        started.wait(ENDS_S)
        process.send_signal(sent)
        ended.wait(ENDS_S)
        return None

    model.on_call = on_call
    with interrupts_heeded():
        process = subprocess.Popen(
            command(*arguments),
            env=environment_of(home, **model.settings),
            stderr=subprocess.PIPE,
            text=True,
        )
    started.set()
    try:
        _, said = process.communicate(timeout=ENDS_S)
    finally:
        ended.set()
        process.kill()
    model.on_call = lambda _: 200
    return process.returncode, said


def kept_of(out):
    return out.with_name(out.name + ".kept.jsonl")


def manifest_of(out):
    record = json.loads(out.with_name(out.name + ".manifest.json").read_text("utf-8"))
    for differs in ("started", "seconds"):
        del record[differs]
    del record["run"]["path"]
    return record


@pytest.fixture
def undisturbed(sample_home, model, tmp_path):
    """Make the run that others are compared with, and forget the calls that it took."""
    out = tmp_path / "undisturbed"
    done = shrag(*call(out, *ASKING), home=sample_home, **model.settings)
    assert done.returncode == 0, done.stderr
    assert len(model.questions()) == len(QUESTIONS)
    model.prompts.clear()
    return out


def same(out, undisturbed):
    return out.read_bytes() == undisturbed.read_bytes() and manifest_of(out) == manifest_of(undisturbed)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_says_what_is_kept_and_resumes_to_the_undisturbed_one(
    sample_home, model, undisturbed, tmp_path, sent
):
    out = tmp_path / "run"
    code, said = stopped(sample_home, call(out, *ASKING), model, 5, sent)
    assert not out.exists()
    if sent == signal.SIGINT:
        assert (code, said.count("\n")) == (130, 1)
        assert f"4 questions of 40 kept in {kept_of(out)}" in said
    done = shrag(*call(out, *ASKING), home=sample_home, **model.settings)
    assert done.returncode == 0, done.stderr
    assert same(out, undisturbed)
    assert not kept_of(out).exists()
    assert len(model.prompts) == len(QUESTIONS) + 1  # the interrupted one is repeated


@pytest.fixture
def partial(sample_home, model, tmp_path):
    """Make a run that lacks a question."""
    out = tmp_path / "run"
    model.on_call = lambda _: 500 if QUESTIONS[2] in model.prompts[-1] else 200
    assert shrag(*call(out, *ASKING), home=sample_home, **model.settings).returncode == 1
    model.on_call = lambda _: 200
    return out


@pytest.mark.parametrize(
    ("changed", "told"), [("option", "request.k: 100 ≠ 7"), ("model", "language model.seed: 0 ≠ 3")]
)
def test_what_is_kept_of_a_run_that_was_made_otherwise_is_not_mixed_in(
    sample_home, model, partial, changed, told
):
    settings = model.settings | ({"llm__seed": 3} if changed == "model" else {})
    before, made = kept_of(partial).read_bytes(), partial.read_bytes()
    given = call(partial, *ASKING, *(("-k", 7) if changed == "option" else ()))

    refused = shrag(*given, home=sample_home, **settings)

    assert refused.returncode == 2
    assert told in refused.stderr
    assert (kept_of(partial).read_bytes(), partial.read_bytes()) == (before, made)
    again = shrag(*given, "--restart", home=sample_home, **settings)
    assert again.returncode == 0, again.stderr
    assert not kept_of(partial).exists()


def test_an_incomplete_line_is_ranked_again_and_a_damaged_one_is_named(
    sample_home, model, undisturbed, partial
):
    whole = kept_of(partial).read_bytes()
    lines = whole.splitlines(keepends=True)
    kept_of(partial).write_bytes(b"".join([*lines[:2], b"\0" * 400 + b"\n", *lines[3:]]))
    refused = shrag(*call(partial, *ASKING), home=sample_home, **model.settings)
    assert (refused.returncode, f"{kept_of(partial)}:3: " in refused.stderr) == (1, True)
    kept_of(partial).write_bytes(whole[:-20])
    # Another time limit or key changes no result.
    patient = model.settings | {"llm__timeout_s": 17, "llm__retries": 2, "llm__api_key": "secret"}
    done = shrag(*call(partial, *ASKING), home=sample_home, **patient)
    assert done.returncode == 0, done.stderr
    assert "38 questions of 40 already" in done.stderr
    assert same(partial, undisturbed)


HITS = [
    {"_id": f"B{number}", "_score": 9.0 - number, "_source": {"name": name, "summary": name}}
    for number, name in enumerate(("methane of rice paddies", "nurses who leave", "batteries that burn"))
]


@pytest.fixture
def library(tmp_path):
    """Run another index, which fails for chosen requests; yield it, and its file."""

    class Library(Handler):
        asked_for: ClassVar[list[bytes]] = []
        fails = staticmethod(lambda _: False)

        def post(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.asked_for.append(body)
            if Library.fails(body):
                self.answer(400, {"error": "no"})
            elif "_msearch" in self.path:
                self.answer(200, {"responses": [{"hits": {"hits": HITS}}] * (len(body.splitlines()) // 2)})
            else:  # counts
                asked = json.loads(body)["aggs"]["counts"]["filters"]["filters"]
                buckets = {name: {"doc_count": len(HITS)} for name in asked}
                self.answer(200, {"hits": {"hits": []}, "aggregations": {"counts": {"buckets": buckets}}})

    with serving(Library) as url:
        file = tmp_path / "library.toml"
        fields = 'title = "name"\nabstract = "summary"\n'
        file.write_text(f'kind = "elasticsearch"\nurl = "{url}"\nindex = "books"\n[fields]\n{fields}')
        yield Library, file


@pytest.mark.timeout(300)
@pytest.mark.parametrize("options", [(), ("--way", "shrag"), ("--find",)])
def test_a_source_that_fails_for_one_question_is_asked_the_others(sample_home, library, tmp_path, options):
    server, file = library
    topics, out = tmp_path / "topics.tsv", tmp_path / "run"
    topics.write_text("q1\tmethane of rice\nq2\tnurses and hospitals\nq3\tburning batteries\n")
    arguments = ("eval", "run", topics, "--source", file, "--out", out, *options)
    server.fails = staticmethod(lambda body: b"nurses" in body)
    partial = shrag(*arguments, home=sample_home)
    assert partial.returncode == 1, partial.stderr
    assert "1 question" in partial.stderr
    assert "  q2: SourceFailed: " in partial.stderr
    assert {line.split()[0] for line in out.read_text().splitlines()} == {"q1", "q3"}
    server.fails = staticmethod(lambda _: False)
    server.asked_for.clear()
    assert shrag(*arguments, home=sample_home).returncode == 0
    assert not any(b"rice" in body or b"burning" in body for body in server.asked_for)
    written = out.read_bytes()
    assert shrag(*arguments, home=sample_home).returncode == 0
    assert out.read_bytes() == written


def test_a_source_that_failed_where_others_answered_is_asked_again(sample_home, library, tmp_path):
    server, file = library
    ours, topics, out = tmp_path / "ours.toml", tmp_path / "topics.tsv", tmp_path / "run"
    ours.write_text(f'kind = "index"\nindex = "{NAME}"\n')
    topics.write_text("q1\tmethane of rice\nq2\tburning batteries\n")
    arguments = ("eval", "run", topics, "--source", f"{file},{ours}", "--out", out)
    server.fails = staticmethod(lambda body: b"rice" in body)

    done = shrag(*arguments, "--json", home=sample_home)

    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)["incomplete"]) == list(manifest_of(out)["deviations"]) == ["q1"]
    assert "1 question" in done.stderr
    assert {line.split()[0] for line in out.read_text().splitlines()} == {"q1", "q2"}

    server.fails = staticmethod(lambda _: False)
    again = shrag(*arguments, "--json", home=sample_home)

    assert json.loads(again.stdout)["incomplete"] == {}
    assert any("library:" in line for line in out.read_text().splitlines() if line.startswith("q1"))
    assert not kept_of(out).exists()
