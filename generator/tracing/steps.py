"""Steps from a question to its answer, recorded as a tree beside the values.

A step is opened from the one it belongs to, so that steps under way at the same time, and steps run in
threads, find their place in the tree without any global state:

    with parent.step("search", question=question) as step:
        result = await search(…)
        step.output = result.as_record()
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from base.logs import get_logger
from generator.errors import ModelFailed
from generator.llm import Growth, OnText

LOGGED_OF_A_CALL = ("model", "attempts", "repaired", "prompt_tokens", "completion_tokens")

log = get_logger("steps")

EventKind: TypeAlias = Literal["started", "growth", "made", "finished"]


@dataclass(slots=True)
class Step:
    """One step, under way or finished; `inputs`, `output` and `model_call` are JSON values.

    `path` is its place in the tree: (0, 2) is the third step within the first. `model_call` is not None where
    a language model was asked, {} where the call brought nothing. `error` says what failed, by the error's
    name and message, and `fallback` what took its place; a step with an error and no fallback ended its way.
    """

    name: str
    inputs: dict[str, Any] = field(default_factory=dict)
    listener: "Listener | None" = field(default=None, repr=False, compare=False)
    path: tuple[int, ...] = ()
    output: Any = None
    model_call: dict[str, Any] | None = None
    error: str = ""
    fallback: str = ""
    failure: ModelFailed | None = field(default=None, repr=False, compare=False)  # of its model
    notes: list[str] = field(default_factory=list)  # for a reader of the answer
    milliseconds: float | None = None  # None while it is under way
    children: list["Step"] = field(default_factory=list)  # in the order in which they began
    _began: float = field(default_factory=time.perf_counter, init=False, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @contextmanager
    def step(self, name: str, **inputs: Any) -> Iterator["Step"]:
        """Run a step within this one; an error that passes through is recorded, and goes on."""
        with self._lock:  # of threads that begin steps at the same time, each gets a place of its own
            child = Step(name, inputs, self.listener, (*self.path, len(self.children)))
            self.children.append(child)
        with child.running():
            yield child

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure the step's time, and send the listener an event when it begins and ends."""
        self._tell("started")
        self._began = time.perf_counter()
        try:
            yield
        except BaseException as error:
            self.error = described(error)
            raise
        finally:
            self.milliseconds = (time.perf_counter() - self._began) * 1000
            self._log()
            self._tell("finished")

    @property
    def seconds(self) -> float:
        """Seconds that it took, or has taken so far."""
        return time.perf_counter() - self._began if self.milliseconds is None else self.milliseconds / 1000

    @property
    def on_text(self) -> OnText | None:
        """The callback for a model call's growing text; None without a listener."""
        return self._grew if self.listener else None

    def tell(self, made: object) -> None:
        """Tell the listener what was made within the step so far; nothing of it is recorded."""
        self._tell("made", made=made)

    def _grew(self, growth: Growth) -> None:
        self._tell("growth", growth)

    def _tell(self, kind: EventKind, growth: Growth | None = None, made: object = None) -> None:
        if self.listener:
            self.listener(StepEvent(kind, self, growth, made))

    def _log(self) -> None:
        """Log the step; an error's message, which may quote the question, only with inputs and output."""
        call = self.model_call or {}
        fields: dict[str, Any] = {key: call[key] for key in LOGGED_OF_A_CALL if key in call}
        if self.error:
            fields |= {"error": self.error.partition(":")[0], "fallback": self.fallback}
        log.info(
            "step", step=self.name, path=self.path, milliseconds=round(self.milliseconds or 0, 2), **fields
        )
        log.debug("step in full", step=self.name, inputs=self.inputs, output=self.output, error=self.error)

    def walk(self) -> Iterator["Step"]:
        """Yield this step and all within it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()

    def as_record(self) -> dict[str, Any]:
        """Return the step and all within it as JSON."""
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
    """A step that began or ended, the text that its model has written so far, or what was made within it."""

    kind: EventKind
    step: Step
    growth: Growth | None = None
    made: object = None


Listener: TypeAlias = Callable[[StepEvent], None]


def described(error: BaseException) -> str:
    """Describe an error by its name and message, as the command line does."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
