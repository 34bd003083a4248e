"""A search for papers that ends early: what was found is given, kept, and gone on from."""

import json
import signal
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest

from base.errors import InvalidCall
from generator.finding.agents import PURE
from generator.finding.calls import FindRequest
from generator.finding.state import FindingState
from tests.generator.finding.test_finding import find, ids
from tests.generator.finding_model import FindingModel, judgement, serving_model, value_of
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.indexer.made_corpora import command, environment_of
from tests.interrupts import interrupts_heeded

REVIEW = FindRequest("cobalt of spent batteries: a review", rounds=2, layers=2)
ASKED = (ENGLISH, "--name", NAME, "--json", "--without", "query-writing,evolver")
JUDGED = 12  # papers, before the model waits


def told_states(home, request, model=None):
    """Search, and return what was found with each state that was told on the way."""
    states = []

    def listen(event):
        if isinstance(event.made, FindingState):
            states.append(event.made)

    return find(home, request, model=model, listener=listen), states


def judged(state):
    return {paper_id for paper_id, known in state.papers.items() if known.judgement}


@pytest.mark.parametrize("model", [None, FindingModel])
def test_a_search_resumes_after_any_step_with_the_same_list_and_judges_nothing_twice(
    sample_home, tmp_path, model
):
    whole, states = told_states(sample_home, REVIEW, model and model())
    assert len(states) > 8
    for state in [*states[:: len(states) // 8], whole.state]:
        state.save(tmp_path / "state.json")
        asked, loaded = model and model(), FindingState.load(tmp_path / "state.json")
        resumed = find(sample_home, REVIEW, state=loaded, model=asked)
        assert ids(resumed) == ids(whole)
        if asked:
            assert asked.calls["judgement"] == len(judged(whole.state)) - len(judged(state))
        assert resumed.state.queries == whole.state.queries
        assert resumed.state.papers == whole.state.papers
        assert resumed.state.spent.papers == whole.state.spent.papers


class WaitsInTheMiddle(FindingModel):
    """A model that answers some judgements, and the others only when it is let go on."""

    def __init__(self, judged=JUDGED):
        self.judged = judged
        self.go_on = threading.Event()
        super().__init__({"judgement": self.judge})

    def judge(self, prompt):
        if self.calls["judgement"] <= self.judged:
            return judgement(prompt)

        def wait():
            self.go_on.wait(240)
            return judgement(prompt)

        return wait


@contextmanager
def search_in_the_middle(home, path, *arguments):
    """Yield the command, a process of its own, when its file holds what was judged by then."""
    model = WaitsInTheMiddle()
    with serving_model(model) as settings:
        with interrupts_heeded():
            process = subprocess.Popen(
                command("find-papers", *ASKED, "--save", path, *arguments),
                env=environment_of(home, **settings),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        try:
            until = time.monotonic() + 120
            while time.monotonic() < until and judged_in(path) < JUDGED:
                time.sleep(0.05)
            assert judged_in(path) == JUDGED
            yield process
        finally:
            process.kill()
            process.communicate()
            model.go_on.set()


def judged_in(path):
    try:
        return len(judged(FindingState.load(path)))
    except InvalidCall:
        return 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_search_that_is_ended_keeps_its_state_and_judges_nothing_twice(sample_home, tmp_path, sent):
    path = tmp_path / "state.json"
    with search_in_the_middle(sample_home, path, "--trace", tmp_path / "trace.json") as process:
        process.send_signal(sent)
        out, err = process.communicate(timeout=240)
    if sent == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 130
        assert err.splitlines() == ["interrupted"]
        record = json.loads(out)
        assert record["papers"]
        assert not record["complete"]
        assert any("interrupted" in note for note in record["notes"])
        assert json.loads((tmp_path / "trace.json").read_text())["tree"]
    known = FindingState.load(path)
    assert len(judged(known)) == JUDGED
    answered = {known.papers[paper_id].paper.title for paper_id in judged(known)}
    again = FindingModel()
    with serving_model(again) as settings:
        done = shrag("find-papers", *ASKED, "--resume", path, home=sample_home, **settings)
    assert done.returncode == 0, done.stderr
    assert again.calls["understanding"] == 0
    assert again.calls["judgement"] > 0
    assert not answered & {value_of("title", prompt) for prompt in again.prompts}
    assert json.loads(done.stdout)["complete"]


def test_what_was_found_is_given_where_the_model_fails_for_good(sample_home, tmp_path):
    """Of a recording that lacks the later calls."""
    cache = {"cache__file": tmp_path / "calls.sqlite"}
    with serving_model(FindingModel()) as settings:
        given, path = {"home": sample_home, **settings, **cache}, tmp_path / "state.json"
        shrag("find-papers", *ASKED, "--max-calls", 20, **given, cache__mode="record")
        done = shrag("find-papers", *ASKED, "--save", path, **given, cache__mode="replay")
    assert done.returncode == 1
    assert done.stderr.startswith("CallNotRecorded")
    record = json.loads(done.stdout)
    assert record["papers"]
    assert any("CallNotRecorded" in note for note in record["notes"])
    assert judged(FindingState.load(path))


def test_what_a_resumed_search_does_not_name_is_as_it_was(sample_home, tmp_path):
    path, trace = tmp_path / "state.json", tmp_path / "trace.json"
    asked = ("--year", "2015..", "--lang", "en", "--threshold", "0.3", "--pure", "--max-papers", "5")
    done = shrag("find-papers", ENGLISH, "--name", NAME, *asked, "--save", path, home=sample_home)
    assert (done.returncode, f"--resume {path}" in done.stderr) == (0, True)
    options = ("--resume", path, "--lang", "ko", "-k", "7", "--trace", trace)
    assert shrag("find-papers", "--name", NAME, *options, home=sample_home).returncode == 0
    request = json.loads(trace.read_text(encoding="utf-8"))["request"]
    assert request["filters"] == {"years": [2015, None], "lang": "ko", "journal": None}
    assert (request["threshold"], request["papers"], request["rounds"]) == (0.3, 7, 1)
    assert request["without"] == sorted(PURE)
    assert request["budget"]["papers"] is None
