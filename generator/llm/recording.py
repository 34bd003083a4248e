"""Recorded model calls: a SQLite file with one row per call, and replay from it.

Several processes may write to one file; a killed process loses no completed write.
"""

import asyncio
import hashlib
import json
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeAlias
from weakref import WeakValueDictionary

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from base.untrusted import one_line
from generator import errors
from generator.errors import CacheUnusable, CallNotRecorded, ModelFailed
from generator.llm.client import Completion
from generator.settings import CacheSettings

VERSION = 3  # of the file's format
USE_ANOTHER = "Set SHRAG_CACHE__FILE to another file, or set SHRAG_CACHE__MODE=off."
MOVE_AWAY = "Move it away, or set SHRAG_CACHE__FILE to another file."
WAIT_S = 30.0  # for the write lock of another process
SHOWN_OF_A_REQUEST = 80  # characters
ADDRESS = "<SHRAG_LLM__BASE_URL>"  # placeholder of the server's address in the file
FAILURES = "CircuitOpen|ContextExceeded|ModelAnswerInvalid|ModelRefusedCall|ModelTooSlow|ModelUnreachable"

# Fields of a call that its answer depends on.
KEY = ("kind", "model", "revision", "prompt_version", "request")

STORE = "INSERT INTO calls VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET outcome = excluded.outcome"
STORE_OVER_FAILURE = f"{STORE} WHERE json_type(calls.outcome, '$.error') IS NOT NULL"


class _Failure(BaseModel):
    """A failed call; the server's address is replaced."""

    error: str = Field(pattern=f"^({FAILURES})$")
    message: str
    attempts: int
    of_server: bool = False
    status: int = 0
    text: str = ""

    @classmethod
    def of(cls, error: ModelFailed, address: str) -> Self:
        message, text = (each.replace(address, ADDRESS) for each in (str(error.args[0]), error.text))
        details = {name: getattr(error, name) for name in ("attempts", "of_server", "status")}
        return cls(error=type(error).__name__, message=message, text=text, **details)

    def as_error(self, address: str) -> ModelFailed:
        details = self.model_dump(exclude={"error", "message"})
        error: ModelFailed = getattr(errors, self.error)(self.message.replace(ADDRESS, address), **details)
        error.text = error.text.replace(ADDRESS, address)
        return error


Outcome: TypeAlias = Completion | _Failure
OUTCOMES: TypeAdapter[Outcome] = TypeAdapter(Outcome)


@dataclass(frozen=True)
class Call:
    """The parts of a request that the answer depends on; neither address nor API key."""

    kind: str  # chat, context
    name: str  # for people: keywords, answer
    model: str | None
    revision: str | None
    prompt_version: int | None
    request: Mapping[str, Any]

    @cached_property
    def as_json(self) -> str:
        """Canonical JSON of the call."""
        asked = {name: getattr(self, name) for name in KEY}
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


class Recording:
    """Replays calls from a file or records them in it, depending on the mode, which is not `off`."""

    def __init__(self, settings: CacheSettings, base_url: str) -> None:
        """Open the file, and make it if it is missing and the mode records.

        The address of `base_url` is not in the file: failures contain the placeholder ADDRESS instead.

        Raises:
            CacheUnusable: the file is missing, damaged, of another format, or cannot be read or written.
        """
        self._mode, self._path = settings.mode, settings.file
        self._address = base_url.removesuffix("/v1")
        self._recorded: set[str] = set()  # keys of calls recorded by this process
        self._file = threading.Lock()
        # One lock per running call; it is dropped when no task uses it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        if self._mode == "replay" and not self._path.is_file():
            raise CacheUnusable(
                f"there is no recording {self._path}. Set SHRAG_CACHE__FILE to an existing recording, or "
                "make one with SHRAG_CACHE__MODE=record."
            )
        with self._using_the_file():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._rows = _opened(self._path)

    async def outcome(
        self,
        call: Call,
        ask: Callable[[], Awaitable[Completion]],
        is_usable: Callable[[Completion], bool] = lambda _: True,
    ) -> Completion:
        """Return the outcome of a call, from the file or by `ask`.

        Mode `record` stores all outcomes and failures, `use` only usable outcomes, so others are sent again.

        Raises:
            ModelFailed: the call failed, now or when it was recorded.
            CallNotRecorded: the call is replayed and was not recorded.
            CacheUnusable: the file cannot be used.
        """
        lock = self._locks.setdefault(call.key, asyncio.Lock())
        async with lock:  # identical concurrent calls are sent once
            kept = await asyncio.to_thread(self._kept, call)
            if isinstance(kept, _Failure):
                raise kept.as_error(self._address)
            if kept is not None:
                return kept
            try:
                answer = await ask()
            except ModelFailed as error:
                if self._mode == "record":
                    await asyncio.to_thread(self._keep, call, _Failure.of(error, self._address))
                raise
            stores = self._mode == "record" or is_usable(answer)
            if stores and not await asyncio.to_thread(self._keep, call, answer):
                kept = await asyncio.to_thread(self._kept, call)  # by another process since the call began
            return kept if isinstance(kept, Completion) else answer

    def _keep(self, call: Call, outcome: Outcome) -> bool:
        """Store an outcome, in mode `use` only in place of a failure; return whether it is stored."""
        store = STORE_OVER_FAILURE if self._mode == "use" else STORE
        with self._using_the_file():
            stored = self._rows.execute(store, (call.key, call.as_json, outcome.model_dump_json())).rowcount
        self._recorded.add(call.key)
        return bool(stored)

    def _kept(self, call: Call) -> Outcome | None:
        if self._mode == "record" and call.key not in self._recorded:
            return None
        with self._using_the_file():
            row = self._rows.execute("SELECT outcome FROM calls WHERE key = ?", (call.key,)).fetchone()
        if row is None and self._mode == "replay":
            raise CallNotRecorded(
                f"{self._path} does not contain the call {call}. Record it with "
                "SHRAG_CACHE__MODE=use, or replay with the settings and the index of the recording."
            )
        if row is None:
            return None
        try:
            kept = OUTCOMES.validate_json(row[0])
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise CacheUnusable(f"{self._path} is damaged: {fault}: {call}. {MOVE_AWAY}") from None
        if isinstance(kept, Completion):
            kept.from_file = True
        return None if self._mode == "use" and isinstance(kept, _Failure) else kept

    def close(self) -> None:
        """Close the file."""
        with self._file:
            self._rows.close()

    @contextmanager
    def _using_the_file(self) -> Iterator[None]:
        """Lock the file for one thread, and convert errors to CacheUnusable with the next step."""
        try:
            with self._file:
                yield
        except (sqlite3.Error, OSError) as error:
            passing = isinstance(error, sqlite3.OperationalError | OSError)  # locked, full, no permission
            raise CacheUnusable(
                f"the file of recorded calls {self._path} {'cannot be used' if passing else 'is damaged'}: "
                f"{error}. {USE_ANOTHER if passing else MOVE_AWAY}"
            ) from error


def _opened(path: Path) -> sqlite3.Connection:
    """Open the file; an empty one gets the table, and one of another program is refused."""
    rows = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None, check_same_thread=False)
    try:
        rows.execute("PRAGMA synchronous = FULL")
        if not rows.execute("PRAGMA schema_version").fetchone()[0]:
            rows.executescript(
                "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS calls "
                "(key TEXT PRIMARY KEY, request TEXT NOT NULL, outcome TEXT NOT NULL) WITHOUT ROWID; "
                f"PRAGMA user_version = {VERSION}; COMMIT"
            )
        if rows.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            raise CacheUnusable(  # noqa: TRY301 - the file is closed first
                f"{path} contains no recorded calls of this version ({VERSION}). Set SHRAG_CACHE__FILE to "
                "another file."
            )
    except BaseException:
        rows.close()
        raise
    return rows
