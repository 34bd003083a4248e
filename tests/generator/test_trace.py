"""Steps become a tree; traces are saved, read again and shown."""

import asyncio
import json
from typing import Any

import pytest

from generator.tracing import Step, Trace
from tests.generator.sample_index import shrag


def step(name, output=None, steps=(), **more):
    return {"name": name, "inputs": {}, "output": output, "milliseconds": 1.0, "steps": list(steps)} | more


SEARCHED: dict[str, Any] = {"keywords": [], "queries": [{"query": "강", "hits": 2}]}
CALL = {"text": "바다로", "milliseconds": {"total": 12.5}}
RECORD: dict[str, Any] = {
    "trace": 2,
    "started": "2024-05-01T12:00:00.000+00:00",
    "index": {"name": "rivers", "version": 1, "engine": "tantivy", "fingerprint": {}},
    "request": {"question": "강은 어디로 흐르는가?", "way": "shrag", "method": "shrag"},
    "steps": [
        step("hop", steps=[step("search", SEARCHED), step("search", SEARCHED)]),
        step("answer", {"title": "강", "sentences": []}, model_call=CALL),
    ],
    "answer": {
        "title": "강의 흐름",
        "sentences": [{"text": "강은 바다로 흐른다.", "citations": ["R1"], "check": "supported"}],
    },
    "evidence": [{"rank": 1, "score": 2.5, "passage_id": "R1", "title": "강"}],
    "notes": [],
    "milliseconds": 40.0,
}


def shown(folder, record):
    """Return the lines that `trace show` prints of a record."""
    Trace(record).save(folder / "trace.json")
    done = shrag("trace", "show", folder / "trace.json", home=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_trace_shows_the_likelihood_before_the_answer_and_unknown_words_as_a_note(tmp_path):
    lines = shown(tmp_path, RECORD | {"likelihood": 0.82, "unknown_words": ["나루"]})
    assert lines[lines.index("강의 흐름") - 1] == "이 논문들에 답이 있을 가능성: 82%"
    assert "note: 어느 논문에도 나오지 않는 단어: 나루" in lines


def test_concurrent_steps_find_their_places():
    root = Step("ask")

    def judge(parent, paper):
        with parent.step(paper):
            pass

    async def hop(name):
        with root.step(name) as step:
            await asyncio.sleep(0)
            await asyncio.gather(*(asyncio.to_thread(judge, step, f"{name}{n}") for n in range(2)))

    async def hops():
        await asyncio.gather(hop("a"), hop("b"))

    asyncio.run(hops())
    tree = {child.name: {inner.name for inner in child.children} for child in root.children}
    assert list(tree.items()) == [("a", {"a0", "a1"}), ("b", {"b0", "b1"})]


def test_an_error_is_recorded_in_each_step_that_it_ends():
    root = Step("ask")
    with pytest.raises(LookupError), root.step("hop") as hop, hop.step("search"):
        raise LookupError("no such index")
    assert [step.error for step in root.walk()] == ["", *["LookupError: no such index"] * 2]


def test_steps_are_found_by_name_however_deep_and_in_order():
    trace = Trace(RECORD)
    assert [step["name"] for step in trace.steps()] == ["hop", "search", "search", "answer"]
    assert [step["output"] for step in trace.steps("search")] == [SEARCHED, SEARCHED]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("half {", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        (json.dumps(RECORD | {"trace": 1}), "is not a trace of this version; make one with"),
        ("[]", "is not a trace of this version; make one with"),
    ],
)
def test_a_file_that_holds_no_trace_of_today_is_named_with_what_to_do(tmp_path, content, complaint):
    file = tmp_path / "trace.json"
    file.write_text(content)
    with pytest.raises(ValueError, match=rf"trace\.json {complaint}"):
        Trace.load(file)


@pytest.mark.parametrize("changes", [{"answer": {"title": "T"}}, {"milliseconds": 10**400}])
def test_an_incomplete_trace_is_named(tmp_path, changes):
    Trace(RECORD | changes).save(tmp_path / "trace.json")
    done = shrag("trace", "show", tmp_path / "trace.json", home=tmp_path)
    assert done.returncode == 2
    assert "trace.json is not a complete trace: " in done.stderr
    assert done.stdout == ""
