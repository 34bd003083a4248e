"""Recording of calls in a file, and replay from it."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeAlias
from weakref import WeakValueDictionary

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from base.untrusted import one_line
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
from generator.llm.replies import Usage
from generator.llm.store import MOVE_AWAY, CallStore
from generator.settings import CacheSettings

Outcome: TypeAlias = dict[str, Any]

SHOWN_OF_A_REQUEST = 80  # characters
ADDRESS = "<SHRAG_LLM__BASE_URL>"  # placeholder of the server's address in the file
# Recorded failures, and the attributes stored with each message.
FAILURES: dict[str, tuple[type[ModelFailed], tuple[str, ...]]] = {
    "CircuitOpen": (CircuitOpen, ()),
    "ContextExceeded": (ContextExceeded, ("status", "context_tokens")),
    "ModelAnswerInvalid": (ModelAnswerInvalid, ("text",)),
    "ModelRefusedCall": (ModelRefusedCall, ("status",)),
    "ModelTooSlow": (ModelTooSlow, ("of_server",)),
    "ModelUnreachable": (ModelUnreachable, ()),
}


class _Failure(BaseModel):
    error: str = Field(pattern=f"^({'|'.join(FAILURES)})$")
    message: str
    status: int = 0
    text: str = ""
    context_tokens: int | None = None
    of_server: bool = False  # not in older files
    attempts: int = 1  # in older files only part of the message

    @classmethod
    def of(cls, error: ModelFailed) -> Self:
        name = type(error).__name__
        kept = {detail: getattr(error, detail) for detail in FAILURES[name][1]}
        return cls(error=name, message=str(error.args[0]), attempts=error.attempts, **kept)

    def as_error(self) -> ModelFailed:
        kind, details = FAILURES[self.error]
        error = kind(self.message, **{detail: getattr(self, detail) for detail in details})
        error.attempts = self.attempts
        return error

    def with_address(self, old: str, new: str) -> Self:
        texts = {"message": self.message.replace(old, new), "text": self.text.replace(old, new)}
        return self.model_copy(update={name: text for name, text in texts.items() if text})


class _Chat(BaseModel):
    text: str
    model: str
    finish_reason: str
    usage: Usage
    attempts: int


class _Context(BaseModel):
    max_model_len: int | None


class _Count(BaseModel):
    count: int | None


# Format of the outcome of a call in the file, by its kind.
SHAPES: dict[str, TypeAdapter[BaseModel]] = {
    "chat": TypeAdapter(_Chat | _Failure),
    "context": TypeAdapter(_Context | _Failure),
    "tokenize": TypeAdapter(_Count | _Failure),
}


@dataclass(frozen=True)
class Call:
    """The parts of a request that the answer depends on; neither address nor API key."""

    kind: str  # chat, tokenize, context
    name: str  # for people: keywords, answer
    model: str | None
    revision: str | None
    prompt_version: int | None
    request: Mapping[str, Any]

    @cached_property
    def as_json(self) -> str:
        """Canonical JSON of the call."""
        asked = {name: value for name, value in vars(self).items() if name in ASKED}
        return json.dumps(asked, sort_keys=True, separators=(",", ":"))

    @cached_property
    def key(self) -> str:
        """SHA-256 of the call."""
        return hashlib.sha256(self.as_json.encode()).hexdigest()

    def __str__(self) -> str:
        text = f"{self.kind} {self.name!r} of {self.model} ({self.key[:12]})"
        if not self.request.get("messages"):
            return text
        said = " ".join(str(self.request["messages"][-1]["content"]).split())
        return f"{text}, ending in “{one_line(said[-SHOWN_OF_A_REQUEST:])}”"


ASKED = frozenset({"kind", "model", "revision", "prompt_version", "request"})


class Recording:
    """Replays calls from a file or records them in it, depending on the mode."""

    def __init__(self, settings: CacheSettings, base_url: str) -> None:
        """Open the file unless the mode is off.

        The address of `base_url` is not in the file: failures contain the placeholder ADDRESS instead.

        Raises:
            CacheUnusable: the file cannot be used.
        """
        self._settings = settings
        self._address = base_url.removesuffix("/v1")
        self._store = (
            None if settings.mode == "off" else CallStore(settings.file, create=settings.mode != "replay")
        )
        self._recorded: set[str] = set()  # keys of calls recorded by this process
        # One lock per running call; it is dropped when no task uses it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def outcome(
        self,
        call: Call,
        ask: Callable[[], Awaitable[Outcome]],
        worth_keeping: Callable[[Outcome], bool] = lambda _: True,
    ) -> tuple[Outcome, bool]:
        """Return the outcome of a call and whether it came from the file.

        Mode `use` does not store outcomes that are not `worth_keeping`, so the call is sent again; mode
        `record` stores them.

        Raises:
            ModelFailed: the call failed, now or when it was recorded.
            CallNotRecorded: the call is replayed and was not recorded.
            CacheUnusable: the file cannot be used.
        """
        if self._store is None:
            return await ask(), False
        lock = self._locks.setdefault(call.key, asyncio.Lock())
        async with lock:  # identical concurrent calls are sent once
            kept = await self._kept(self._store, call)
            if isinstance(kept, _Failure):
                raise kept.with_address(ADDRESS, self._address).as_error()
            if kept is not None:
                return kept, True
            try:
                outcome = await ask()
            except ModelFailed as error:
                if self._settings.mode == "record":
                    failure = _Failure.of(error).with_address(self._address, ADDRESS)
                    await self._record(self._store, call, failure.model_dump(exclude_unset=True))
                raise
            if self._settings.mode == "record":
                await self._record(self._store, call, outcome)
            elif worth_keeping(outcome):
                text = _as_json(outcome)
                there = await asyncio.to_thread(self._store.put_first, call.key, call.as_json, text)
                if there != text:  # another process has stored an answer: use that one
                    kept = self._read(there, call)
                    return (outcome, False) if isinstance(kept, _Failure) else (kept, True)
            return outcome, False

    async def _record(self, store: CallStore, call: Call, outcome: Outcome) -> None:
        await asyncio.to_thread(store.put, call.key, call.as_json, _as_json(outcome))
        self._recorded.add(call.key)

    async def _kept(self, store: CallStore, call: Call) -> Outcome | _Failure | None:
        mode = self._settings.mode
        if mode == "record" and call.key not in self._recorded:
            return None
        text = await asyncio.to_thread(store.get, call.key)
        if text is None and mode == "replay":
            raise CallNotRecorded(
                f"{self._settings.file} does not contain the call {call}. Record it with "
                "SHRAG_CACHE__MODE=use, or replay with the settings and the index of the recording."
            )
        kept = None if text is None else self._read(text, call)
        return None if mode == "use" and isinstance(kept, _Failure) else kept

    def _read(self, text: str, call: Call) -> Outcome | _Failure:
        try:
            kept = SHAPES[call.kind].validate_json(text)
            return kept if isinstance(kept, _Failure) else kept.model_dump(exclude_unset=True)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise CacheUnusable(f"{self._settings.file} is damaged: {fault}: {call}. {MOVE_AWAY}") from None

    def close(self) -> None:
        """Close the file."""
        if self._store:
            self._store.close()


def _as_json(outcome: Outcome) -> str:
    return json.dumps(outcome, sort_keys=True)
