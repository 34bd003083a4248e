"""Calls answered from a file: kept while a run is recorded, given back when it is replayed."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from generator.errors import (
    CacheUnusable,
    CallNotRecorded,
    CircuitOpen,
    ContextExceeded,
    ModelAnswerInvalid,
    ModelFailed,
    ModelRefusedCall,
    ModelTooSlow,
    ModelUnreachable,
)
from generator.llm.refusals import shown
from generator.llm.store import MOVE_AWAY, CallStore
from generator.settings import CacheSettings

Outcome: TypeAlias = dict[str, Any]
Asking: TypeAlias = Callable[[], Awaitable[Outcome]]
Worth: TypeAlias = Callable[[Outcome], bool]

SHOWN_OF_A_REQUEST = 80  # characters
DETAILS = ("status", "text", "context_tokens")  # of a failure, beside its message
ADDRESS = "<SHRAG_LLM__BASE_URL>"  # stands in the file for the server's
FAILURES: dict[str, type[ModelFailed]] = {
    one.__name__: one
    for one in (
        CircuitOpen,
        ContextExceeded,
        ModelAnswerInvalid,
        ModelRefusedCall,
        ModelTooSlow,
        ModelUnreachable,
    )
}


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked of a server, as far as its answer depends on it: neither address nor key is in it."""

    kind: str  # chat, tokenize, context
    name: str  # for people: keywords, answer
    model: str | None
    revision: str | None
    prompt_version: int | None
    request: Mapping[str, Any]

    @property
    def written(self) -> str:
        """The call as JSON, the same for the same call."""
        told = {
            "kind": self.kind,
            "model": self.model,
            "revision": self.revision,
            "prompt_version": self.prompt_version,
            "request": self.request,
        }
        return json.dumps(told, sort_keys=True, separators=(",", ":"))

    @property
    def key(self) -> str:
        """SHA-256 of the call."""
        return hashlib.sha256(self.written.encode()).hexdigest()

    def __str__(self) -> str:
        told = f"{self.kind} {self.name!r} of {self.model} ({self.key[:12]})"
        if not self.request.get("messages"):
            return told
        said = " ".join(str(self.request["messages"][-1]["content"]).split())
        return f"{told}, which ends in “{shown(said[-SHOWN_OF_A_REQUEST:])}”"


class Recording:
    """Answers calls from a file, or keeps what is answered there, as the mode says."""

    def __init__(self, settings: CacheSettings, base_url: str) -> None:
        """Open the file; nothing is opened where the mode is off.

        The address of `base_url` is not in the file: a mark stands for it where a failure names it.

        Raises:
            CacheUnusable: the file cannot be used.
        """
        self._settings = settings
        self._address = base_url.removesuffix("/v1")
        self._store = (
            None if settings.mode == "off" else CallStore(settings.file, create=settings.mode != "replay")
        )
        self._asked: set[str] = set()  # and recorded, by this process
        self._under_way: dict[str, asyncio.Lock] = {}

    async def outcome(
        self, call: Call, ask: Asking, worth_keeping: Worth | None = None
    ) -> tuple[Outcome, bool]:
        """Return the outcome of a call, and whether it came from the file.

        With `use`, what is not `worth_keeping` is left out, so that it is asked anew; `record` keeps it.

        Raises:
            ModelFailed: the call failed, now or when it was recorded.
            CallNotRecorded: it is replayed and was not recorded.
            CacheUnusable: the file cannot be used.
        """
        if self._store is None:
            return await ask(), False
        key = call.key
        lock = self._under_way.setdefault(key, asyncio.Lock())
        async with lock:  # the same call at the same time is asked once
            kept = await self._kept(self._store, key)
            if kept is not None:
                return _given_back(kept, self._address), True
            if self._settings.mode == "replay":
                raise CallNotRecorded(
                    f"{self._settings.file} does not hold the call {call}. Record it with "
                    "SHRAG_CACHE__MODE=use, or replay with the settings and the index of the recording."
                )
            return await self._ask(self._store, call, ask, worth_keeping)

    async def _kept(self, store: CallStore, key: str) -> Outcome | None:
        mode = self._settings.mode
        if mode == "record" and key not in self._asked:
            return None
        text = await asyncio.to_thread(store.get, key)
        try:
            kept: Outcome | None = None if text is None else json.loads(text)
        except ValueError as error:
            raise CacheUnusable(f"{self._settings.file} is damaged: {error}. {MOVE_AWAY}") from None
        failed = kept is not None and "error" in kept
        return None if mode == "use" and failed else kept

    async def _ask(
        self, store: CallStore, call: Call, ask: Asking, worth_keeping: Worth | None
    ) -> tuple[Outcome, bool]:
        """Ask, and keep; with `use` the answer that another process kept meanwhile holds here too."""
        try:
            outcome = await ask()
        except ModelFailed as error:
            if self._settings.mode == "record":
                await self._keep(store, call, _failure(error, self._address))
            raise
        if self._settings.mode == "record":
            await self._keep(store, call, outcome)
            return outcome, False
        if worth_keeping and not worth_keeping(outcome):
            return outcome, False
        written = _written(outcome)
        kept = await asyncio.to_thread(store.put_first, call.key, call.written, written)
        return (outcome, False) if kept == written else (json.loads(kept), True)

    async def _keep(self, store: CallStore, call: Call, outcome: Outcome) -> None:
        await asyncio.to_thread(store.put, call.key, call.written, _written(outcome))
        self._asked.add(call.key)

    def close(self) -> None:
        """Close the file."""
        if self._store:
            self._store.close()


def _written(outcome: Outcome) -> str:
    return json.dumps(outcome, sort_keys=True)


def _failure(error: ModelFailed, address: str) -> Outcome:
    kept = {name: getattr(error, name) for name in DETAILS if hasattr(error, name)}
    return _replaced({"error": type(error).__name__, "message": str(error), **kept}, address, ADDRESS)


def _replaced(outcome: Outcome, old: str, new: str) -> Outcome:
    return {name: one.replace(old, new) if isinstance(one, str) else one for name, one in outcome.items()}


def _given_back(outcome: Outcome, address: str) -> Outcome:
    """Return an outcome, or raise the failure that it was."""
    if "error" not in outcome:
        return outcome
    outcome = _replaced(outcome, ADDRESS, address)
    kept = {name: outcome[name] for name in DETAILS if name in outcome}
    raise FAILURES[outcome["error"]](outcome["message"], **kept)
