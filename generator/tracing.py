"""Traces: the tree of the steps from a question to its answer, its events, and trace files.

A step is opened from its parent, so that concurrent steps and steps in threads are placed in the tree without
global state:

    with parent.step("search", question=question) as step:
        result = await search(…)
        step.output = result.as_record()
"""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.logs import get_logger
from base.terminal.output import json_text
from base.untrusted import read_json
from generator.errors import ModelFailed
from generator.llm import Growth, OnText

LOGGED_OF_A_CALL = ("model", "attempts", "repaired", "prompt_tokens", "completion_tokens")

log = get_logger("steps")

EventKind: TypeAlias = Literal["started", "growth", "made", "finished"]


@dataclass(slots=True)
class Step:
    """One running or finished step; `inputs`, `output` and `model_call` are JSON values.

    `path` is the position in the tree: (0, 2) is the third step within the first. `model_call` is None in
    steps without a model call, {} if the call returned nothing. `error` is the name and message of an error,
    `fallback` names its replacement; an error without fallback ends the way.
    """

    name: str
    inputs: dict[str, Any] = field(default_factory=dict)
    listener: "Listener | None" = field(default=None, repr=False, compare=False)
    path: tuple[int, ...] = ()
    output: Any = None
    model_call: dict[str, Any] | None = None
    error: str = ""
    fallback: str = ""
    failure: ModelFailed | None = field(default=None, repr=False, compare=False)  # of the model call
    notes: list[str] = field(default_factory=list)  # for the reader of the answer
    milliseconds: float | None = None  # None while running
    children: list["Step"] = field(default_factory=list)  # in order of their start
    _began: float = field(default_factory=time.perf_counter, init=False, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @contextmanager
    def step(self, name: str, **inputs: Any) -> Iterator["Step"]:
        """Run a child step; errors are recorded and raised again."""
        with self._lock:  # threads may start steps concurrently
            child = Step(name, inputs, self.listener, (*self.path, len(self.children)))
            self.children.append(child)
        with child.running():
            yield child

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure the step's time, send events at its start and end, and log its end."""
        self._notify("started")
        self._began = time.perf_counter()
        try:
            yield
        except BaseException as error:
            self.error = error_text(error)
            raise
        finally:
            self.milliseconds = (time.perf_counter() - self._began) * 1000
            call = self.model_call or {}
            fields: dict[str, Any] = {key: call[key] for key in LOGGED_OF_A_CALL if key in call}
            if self.error:
                fields |= {"error": self.error.partition(":")[0], "fallback": self.fallback}
            times = {"milliseconds": round(self.milliseconds, 2)}
            log.info("step", step=self.name, path=self.path, **times, **fields)
            # Inputs, output and error message may quote the question.
            texts = {"inputs": self.inputs, "output": self.output, "error": self.error}
            log.debug("step in full", step=self.name, **texts)
            self._notify("finished")

    @property
    def seconds(self) -> float:
        """Seconds of the finished step, or since the start of a running one."""
        return time.perf_counter() - self._began if self.milliseconds is None else self.milliseconds / 1000

    @property
    def on_text(self) -> OnText | None:
        """Callback for the growing text of a model call; None without a listener."""
        return partial(self._notify, "growth") if self.listener else None

    def publish(self, made: object) -> None:
        """Send the listener an intermediate result; it is not recorded."""
        self._notify("made", made=made)

    def _notify(self, kind: EventKind, growth: Growth | None = None, made: object = None) -> None:
        if self.listener:
            self.listener(StepEvent(kind, self, growth, made))

    def walk(self) -> Iterator["Step"]:
        """Yield this step and its descendants in pre-order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def all_notes(self) -> list[str]:
        """Return the notes of this step and its descendants."""
        return [note for part in self.walk() for note in part.notes]

    def milliseconds_of_calls(self) -> dict[str, float]:
        """Return the times of model calls by the names of their steps ("answer (model)"), and the `total`."""
        times: dict[str, float] = {}
        for part in self.walk():
            if part.model_call is not None and part.milliseconds is not None:
                stage = f"{part.name} (model)"
                times[stage] = times.get(stage, 0.0) + part.milliseconds
        return times | {"total": self.milliseconds or 0.0}

    def as_record(self) -> dict[str, Any]:
        """Return the step and its descendants as JSON."""
        optional = {
            "model_call": self.model_call,
            "error": self.error or None,
            "fallback": self.fallback or None,
            "notes": self.notes or None,
        }
        return {
            "name": self.name,
            "inputs": self.inputs,
            "output": self.output,
            **{name: value for name, value in optional.items() if value is not None},
            "milliseconds": None if self.milliseconds is None else round(self.milliseconds, 2),
            "steps": [child.as_record() for child in self.children],
        }


@dataclass(frozen=True, slots=True)
class StepEvent:
    """Start or end of a step, new text of its model call, or an intermediate result."""

    kind: EventKind
    step: Step
    growth: Growth | None = None
    made: object = None


Listener: TypeAlias = Callable[[StepEvent], None]


def error_text(error: BaseException) -> str:
    """Format an error as name and message, as on the command line."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


# Running work as a stream of snapshots, and concurrent work that is cancelled together

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event of a streamed answer or search for papers; `data` is JSON."""

    kind: str
    data: Mapping[str, Any]


async def snapshots(
    start: Callable[[Listener], Coroutine[Any, Any, T]],
    known: K,
    after: Callable[[K, StepEvent], K],
    further: Listener | None = None,
) -> AsyncGenerator[tuple[K, T | None], None]:
    """Run work and yield its newest state after each change, and at the end the state with the result.

    Closing the generator cancels the work and waits until it has ended.

    Args:
        start: makes the work from the listener of its steps, which may be called in any thread.
        known: the first state.
        after: returns the next state, or the same object if nothing changed.
        further: also receives the events of the steps.
    """
    changed, lock, loop = asyncio.Event(), threading.Lock(), asyncio.get_running_loop()

    def listen(event: StepEvent) -> None:
        nonlocal known
        with lock:
            before, known = known, after(known, event)
            is_new = known is not before
        if is_new:
            loop.call_soon_threadsafe(changed.set)
        if further:
            further(event)

    task = asyncio.create_task(start(listen))
    task.add_done_callback(lambda _: changed.set())
    try:
        while not task.done():
            await changed.wait()
            changed.clear()
            yield known, None
        yield known, task.result()
    finally:
        task.cancel()
        await ended(task)
        if not task.cancelled():
            task.exception()  # mark it as retrieved: it was raised above, or nobody needs it


async def ended(task: "asyncio.Future[T]") -> None:
    """Wait until a task has ended; a cancellation during the wait (as by anyio) is raised afterwards."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled


async def all_of(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines concurrently and return their results in order; the first error cancels the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


# Saved traces

TRACE_VERSION = 2
FINDING_VERSION = 1  # of a search for papers
MOST_BYTES = 32_000_000  # of a saved trace; one with the full texts of five papers has about ten thousand


@dataclass(frozen=True, slots=True)
class Trace:
    """Trace of an answer or of a search for papers; `record` is the JSON of `--trace FILE`."""

    record: dict[str, Any] = field(default_factory=dict)

    @property
    def is_of_finding(self) -> bool:
        """Whether the trace is of a search for papers."""
        return "finding" in self.record

    def steps(self, name: str = "") -> Iterator[dict[str, Any]]:
        """Yield the records of all steps, or of the steps with a name, in pre-order."""
        left = list(reversed(self.record["steps"]))
        while left:
            step = left.pop()
            left += reversed(step["steps"])
            if not name or step["name"] == name:
                yield step

    def save(self, path: Path) -> None:
        """Write the trace as JSON; raises OutputNotWritten."""
        write_output(path, (json_text(self.record, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: Path) -> "Trace":
        """Load a saved trace; a ValueError names a file that is unreadable or not a trace."""
        try:
            record = read_json(read_regular(path, MOST_BYTES))
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise ValueError(f"{path} is not valid JSON: {error}") from None
        versions = {"trace": TRACE_VERSION, "finding": FINDING_VERSION}
        if not isinstance(record, dict) or not any(record.get(kind) == versions[kind] for kind in versions):
            raise ValueError(
                f"{path} is not a trace of this version; make one with: shrag ask … --trace FILE"
            )
        return cls(record)
