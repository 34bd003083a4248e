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
        self.leaves = None  # a task that is cancelled when a piece ends, before the next one runs

    async def begin(self, *callers):
        """Begin a piece of work for each caller; return the event that ends it, and its task."""
        found = []
        for caller in callers:
            end = asyncio.Event()
            found.append((end, asyncio.create_task(self._run(caller, end))))
        self.begun += found
        await settle()
        return found

    async def _run(self, caller, done):
        async with self.queue.slot(caller):
            self.order.append(caller)
            await done.wait()
        if self.leaves:
            self.leaves.cancel()

    async def end(self, *begun):
        """End pieces of work, by default all."""
        for done, _ in begun or self.begun:
            done.set()
        await asyncio.wait([task for _, task in begun or self.begun])
        await settle()

    @property
    def counts(self):
        """The numbers of running and waiting pieces."""
        return self.queue.running, self.queue.waiting


async def settle():
    """Let everything that can continue do so."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("slots", "callers", "counts", "refused", "order"),
    [
        ((2, 2), "abcd", (2, 2), "e", "abcd"),
        ((4, 4), "aaaa", (2, 2), "a", "aaaa"),  # half of the slots and of the queue
        ((4, 4), "aaaabbb", (4, 3), "a", "aabbaab"),
        ((1, 8), "aaabc", (1, 4), "", "abcaa"),  # in turns
    ],
)
def test_some_calls_run_some_wait_and_the_rest_is_refused(slots, callers, counts, refused, order):
    async def main():
        work = Work(*slots)
        await work.begin(*callers)
        assert work.counts == counts
        if refused:
            with pytest.raises(TooBusy) as error:
                work.queue.check(refused)
            assert error.value.retry_after_s > 0
            ((_, last),) = await work.begin(refused)
            assert isinstance(last.exception(), TooBusy)
        await work.end()
        assert "".join(work.order) == order
        assert work.counts == (0, 0)

    asyncio.run(main())


def test_a_slot_is_lent_while_its_work_waits_for_another_machine():
    async def main():
        work = Work(1, 4)
        first, second, _ = await work.begin(*"abc")
        with work.queue.lent("a"):
            await settle()
            assert work.order == ["a", "b"]
        assert work.counts == (2, 1)
        await work.end(first)
        assert work.order == ["a", "b"]
        await work.end(second)
        assert work.order == ["a", "b", "c"]
        await work.end()
        assert work.counts == (0, 0)

    asyncio.run(main())


@pytest.mark.parametrize("admitted_meanwhile", [False, True])
def test_a_caller_who_leaves_while_waiting_frees_its_place(admitted_meanwhile):
    async def main():
        work = Work(1, 4)
        first, (_, leaving), last = await work.begin(*"abc")
        if admitted_meanwhile:
            work.leaves = leaving
            first[0].set()
        else:
            leaving.cancel()
        await settle()
        assert leaving.cancelled()
        await work.end(first, last)
        assert work.order[-1] == "c"
        assert work.counts == (0, 0)

    asyncio.run(main())
