"""Slots for work: how much at once, who waits, who is refused, who runs next."""

import asyncio

import pytest

from server.errors import TooBusy
from server.limits.work_queue import WorkQueue


class Work:
    """Pieces of work of a test, each running until its event is set."""

    def __init__(self, slots, most_waiting):
        self.queue = WorkQueue("search", slots, most_waiting)
        self.order = []  # of the callers
        self.begun = []

    def begin(self, *callers):
        """Begin a piece of work for each caller; return the event that ends it, and its task."""
        begun = []
        for caller in callers:
            end = asyncio.Event()
            begun.append((end, asyncio.create_task(self._run(caller, end))))
        self.begun += begun
        return begun

    async def _run(self, caller, done):
        async with self.queue.slot(caller):
            self.order.append(caller)
            await done.wait()

    async def end(self, *begun):
        """End pieces of work, by default all."""
        begun = begun or tuple(self.begun)
        for done, _ in begun:
            done.set()
        await asyncio.wait([task for _, task in begun])
        await settle()

    def counts(self):
        """Return the numbers of running and waiting pieces."""
        return self.queue.running, self.queue.waiting


async def settle():
    """Let everything that can continue do so."""
    for _ in range(10):
        await asyncio.sleep(0)


def run(test):
    """Run a test as a coroutine."""
    return lambda: asyncio.run(test())


@run
async def test_some_calls_run_some_wait_and_the_rest_is_refused():
    work = Work(2, 2)
    work.begin(*"abcd")
    await settle()
    assert work.counts() == (2, 2)
    with pytest.raises(TooBusy) as refused:
        work.queue.check("e")
    assert refused.value.retry_after_s > 0
    ((_, last),) = work.begin("e")
    await settle()
    assert isinstance(last.exception(), TooBusy)
    await work.end()
    assert work.counts() == (0, 0)


@run
async def test_a_caller_has_half_of_the_slots_and_half_of_the_queue():
    work = Work(4, 4)
    work.begin(*"aaaa")
    await settle()
    assert work.counts() == (2, 2)
    with pytest.raises(TooBusy):
        work.queue.check("a")
    work.begin(*"bbb")
    await settle()
    assert work.counts() == (4, 3)
    assert work.order == [*"aabb"]
    await work.end()


@run
async def test_waiting_callers_take_turns():
    work = Work(1, 8)
    work.begin(*"aaabc")
    await settle()
    await work.end()
    assert work.order == [*"abcaa"]


@run
async def test_a_slot_is_lent_while_its_work_waits_for_another_machine():
    work = Work(1, 4)
    first, second, _ = work.begin(*"abc")
    await settle()
    with work.queue.lent("a"):
        await settle()
        assert work.order == ["a", "b"]
    assert work.counts() == (2, 1)
    await work.end(first)
    assert work.order == ["a", "b"]
    await work.end(second)
    assert work.order == ["a", "b", "c"]
    await work.end()
    assert work.counts() == (0, 0)


@pytest.mark.parametrize("admitted_meanwhile", [False, True])
def test_a_caller_who_leaves_while_waiting_frees_its_place(admitted_meanwhile):
    async def main():
        work = Work(1, 4)
        first, (_, leaving), last = work.begin(*"abc")
        await settle()
        if admitted_meanwhile:
            first[0].set()
            await first[1]
        leaving.cancel()
        await settle()
        await work.end(first, last)
        assert work.order[-1] == "c"
        assert work.counts() == (0, 0)

    asyncio.run(main())
