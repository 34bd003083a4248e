"""Steps: a tree of what was done, told to a listener while it happens."""

import asyncio

import pytest

from generator.llm import Growth
from generator.tracing import Step


def names(step):
    """Return the tree as nested lists of names."""
    return [step.name, *map(names, step.children)]


def test_steps_at_the_same_time_find_their_places():
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
    assert [child.name for child in root.children] == ["a", "b"]
    assert [sorted(inner.name for inner in child.children) for child in root.children] == [
        ["a0", "a1"],
        ["b0", "b1"],
    ]


def test_an_error_is_recorded_in_each_step_that_it_ends():
    root = Step("ask")
    with pytest.raises(LookupError), root.step("hop") as hop, hop.step("search"):
        raise LookupError("no such index")
    assert [step.error for step in root.walk()] == ["", *["LookupError: no such index"] * 2]


def test_a_listener_is_told_of_each_step_and_of_what_the_model_writes():
    heard = []

    def listen(event):
        heard.append((event.kind, event.step.name, event.step.path, event.growth and event.growth.text))

    root = Step("ask", listener=listen)
    with root.step("hop") as hop, hop.step("answer") as step:
        assert step.on_text
        step.on_text(Growth("answer", '{"title', 1))
    assert heard == [
        ("started", "hop", (0,), None),
        ("started", "answer", (0, 0), None),
        ("growth", "answer", (0, 0), '{"title'),
        ("finished", "answer", (0, 0), None),
        ("finished", "hop", (0,), None),
    ]
