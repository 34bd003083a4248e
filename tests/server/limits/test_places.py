"""WorkQueue for work: how much at once, who waits, who is refused, who goes in first."""

import asyncio

import pytest

from server.errors import TooBusy
from server.limits.work_queue import ALONE_S, WorkQueue
from tests.virtual_clock import run


class Work:
    """Pieces of work of a test, each under way until it is let go."""

    def __init__(self, places):
        self.places = places
        self.order = []
        self.tasks = []

    def begin(self, caller):
        """Bring a piece of work, and return what lets it go on to its end."""
        done = asyncio.Event()

        async def work():
            async with self.places.taken(caller):
                self.order.append(caller)
                await done.wait()

        task = asyncio.create_task(work())
        self.tasks.append(task)
        return done, task


async def settle():
    """Let everything that can go on go on."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_so_much_is_under_way_so_much_waits_and_the_rest_is_refused():
    async def run():
        work = Work(WorkQueue(2, 1))
        done = [work.begin("a")[0] for _ in range(3)]
        await settle()
        assert (work.places.running, work.places.waiting) == (2, 1)
        assert work.places.wait_s() > 0
        with pytest.raises(TooBusy) as refused:
            work.places.check("a")
        assert refused.value.retry_after_s > 0
        _, last = work.begin("a")
        await settle()
        assert isinstance(last.exception(), TooBusy)
        for each in done:
            each.set()
        await asyncio.gather(*work.tasks[:3])
        assert (work.places.running, work.places.waiting, work.places.wait_s()) == (0, 0, 0)

    asyncio.run(run())


def test_a_caller_leaves_the_last_place_to_others_while_they_come():
    async def run():
        work = Work(WorkQueue(2, 4))
        ends, _ = work.begin("other")
        await settle()
        ends.set()
        await settle()
        for _ in range(3):
            work.begin("busy")
        await settle()
        assert (work.places.running, work.places.waiting) == (1, 2)
        work.begin("other")
        await settle()
        assert work.order == ["other", "busy", "other"]

    asyncio.run(run())


def test_a_caller_who_is_alone_has_all_places():
    now = [0.0]

    async def run():
        work = Work(WorkQueue(2, 4, clock=lambda: now[0]))
        ends, _ = work.begin("other")
        await settle()
        ends.set()
        now[0] += ALONE_S
        for _ in range(3):
            work.begin("busy")
        await settle()
        assert (work.places.running, work.places.waiting) == (2, 1)

    asyncio.run(run())


def test_a_reserved_place_opens_to_a_caller_who_waits_when_nobody_else_has_come_for_a_while():
    async def main():
        work = Work(WorkQueue(2, 4, clock=asyncio.get_running_loop().time))
        ends, _ = work.begin("other")
        await asyncio.sleep(0.1)
        ends.set()
        for _ in range(3):
            work.begin("busy")
        await asyncio.sleep(ALONE_S - 0.2)
        assert (work.places.running, work.places.waiting) == (1, 2)
        await asyncio.sleep(0.2)
        assert (work.places.running, work.places.waiting) == (2, 1)

    run(main())


def test_a_reserved_place_is_kept_longer_when_another_caller_comes_meanwhile():
    async def main():
        work = Work(WorkQueue(2, 4, clock=asyncio.get_running_loop().time))
        ends, _ = work.begin("other")
        ends.set()
        await settle()
        for _ in range(2):
            work.begin("busy")
        await asyncio.sleep(ALONE_S / 2)
        ends, _ = work.begin("other")
        ends.set()
        await asyncio.sleep(ALONE_S - 1)
        assert (work.places.running, work.places.waiting) == (1, 1)
        await asyncio.sleep(2)
        assert (work.places.running, work.places.waiting) == (2, 0)

    run(main())


def test_work_that_waits_for_another_machine_leaves_its_place_to_the_next():
    async def run():
        work = Work(WorkQueue(1, 2))
        done = [work.begin(caller)[0] for caller in "abc"]
        await settle()
        with work.places.one_more():
            await settle()
            assert work.order == ["a", "b"]
            done[1].set()
            await settle()
            assert work.order == ["a", "b", "c"]
        done[0].set()
        await settle()
        _, late = work.begin("d")
        await settle()
        assert (work.places.running, work.places.waiting) == (1, 1)
        late.cancel()
        done[2].set()
        await asyncio.gather(*work.tasks[:3])

    asyncio.run(run())


def test_the_busiest_is_refused_first_and_served_last():
    async def run():
        work = Work(WorkQueue(1, 3))
        held = [work.begin("busy") for _ in range(4)]
        await settle()
        work.places.check("other")
        brought = work.begin("other")
        await settle()

        assert isinstance(held[3][1].exception(), TooBusy)
        assert work.places.waiting == 3
        held[0][0].set()
        await settle()
        assert work.order == ["busy", "other"]
        for done, _ in [*held[:3], brought]:
            done.set()
        await asyncio.gather(*[task for _, task in [*held[:3], brought]])
        assert (work.places.running, work.places.waiting) == (0, 0)

    asyncio.run(run())


def test_who_has_as_much_is_refused_as_the_newcomer():
    async def run():
        work = Work(WorkQueue(1, 2))
        held = [work.begin(caller) for caller in "abc"]
        await settle()
        with pytest.raises(TooBusy):
            work.places.check("d")
        for done, task in held:
            done.set()
            await task

    asyncio.run(run())


@pytest.mark.parametrize("let_in_meanwhile", [False, True])
def test_who_leaves_while_waiting_leaves_no_place_taken(let_in_meanwhile):
    async def run():
        work = Work(WorkQueue(1, 2))
        first, task = work.begin("a")
        _, leaving = work.begin("b")
        behind, last = work.begin("c")
        await settle()
        if let_in_meanwhile:
            first.set()
            await task
        leaving.cancel()
        await settle()
        first.set()
        await settle()
        behind.set()
        await asyncio.gather(task, last)
        assert (work.places.running, work.places.waiting) == (0, 0)

    asyncio.run(run())


def test_what_fails_gives_its_place_back():
    async def run():
        places = WorkQueue(1, 0)
        for _ in range(3):
            with pytest.raises(ValueError, match="broken"):
                async with places.taken("a"):
                    raise ValueError("broken")
        assert places.running == 0

    asyncio.run(run())


def test_a_burst_may_wait_and_a_queue_that_stands_is_kept_short():
    now = [0.0]

    async def run():
        work = Work(WorkQueue(1, 1, in_a_burst=4, clock=lambda: now[0]))
        held = [work.begin("a") for _ in range(5)]
        await settle()
        assert work.places.waiting == 4
        now[0] += 10
        for done, task in held[:3]:
            done.set()
            await task
        await settle()
        with pytest.raises(TooBusy):
            work.places.check("a")
        for done, task in held[3:]:
            done.set()
            await task
        held = [work.begin("a") for _ in range(5)]
        await settle()
        assert work.places.waiting == 4
        for done, task in held:
            done.set()
            await task

    asyncio.run(run())


def test_a_queue_that_grows_short_while_somebody_comes_still_takes_or_refuses():
    now, step = [0.0], [0.0]

    def clock():
        now[0] += step[0]
        return now[0]

    async def run():
        work = Work(WorkQueue(1, 1, in_a_burst=4, clock=clock))
        held = [work.begin(caller) for caller in "ab"]
        await settle()
        step[0] = 0.4  # a queue that has stood for a second is kept short
        held.append(work.begin("c"))
        await settle()
        assert work.places.waiting == 2
        for done, task in held:
            done.set()
            await task

    asyncio.run(run())
