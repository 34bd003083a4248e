"""`shrag serve` as a process of the tests, each until the end of a block; and its streams."""

import asyncio
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod
from pathlib import Path
from typing import Any, TypeVar

import httpx
from starlette.testclient import TestClient

from server.access.keys import Keys, make_key
from server.app import create_app
from server.settings import ServerSettings, SignInSettings
from server.store import Store
from tests.generator.language_model import Behaviour
from tests.generator.language_model import Served as Model
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import NAME, settings_of
from tests.indexer.made_corpora import ROOT, environment_of

ADDRESS = re.compile(r"(http://\S+)/\s")  # the whole line: it may just be written
START_S, STOP_S = 120, 60  # a loaded machine's
Found = TypeVar("Found")
# Settings of servers whose tests call more often than one reader may.
UNLIMITED: dict[str, Any] = {f"{work}_per_minute": 0 for work in ("searches", "asks", "reads")}
TOOL_CALLS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
NO_LIMITS = {f"server__{name}": value for name, value in UNLIMITED.items()}


@dataclass(frozen=True)
class Served:
    """A server that answers."""

    url: str  # without a slash at its end
    process: subprocess.Popen[bytes]
    home: Path
    log: Path  # what it writes to standard error

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return int(self.url.rpartition(":")[2])

    def request(self, method: str, path: str, **call: Any) -> httpx.Response:
        """Call it, with a loaded machine's patience; unverified, or all certificates would be read first."""
        return httpx.request(method, self.url + path, **{"timeout": START_S, "verify": False, **call})

    get = partialmethod(request, "GET")
    post = partialmethod(request, "POST")
    delete = partialmethod(request, "DELETE")
    options = partialmethod(request, "OPTIONS")


@contextmanager
def serving(home: Path, log: Path, *options: str, **environment: object) -> Iterator[Served]:
    """Run `shrag serve` on a free port with what lies in `home`; the variables are named without SHRAG_.

    Two underscores stand in the names as they do in variables: server__workers=2. One process answers unless
    more are asked for, whatever the number of cores. Tests are its operator until a key is made.
    """
    environment = {"server__workers": 1, "server__local_operator": "true", **environment}
    command = [sys.executable, str(ROOT / "shrag.py"), "serve", "--port", "0", *options]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command, env=environment_of(home, **environment), stdin=subprocess.DEVNULL, stderr=errors
        )
    try:
        yield Served(_address(process, log), process, home, log)
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


@contextmanager
def application(
    home: Path,
    *,
    address: str = "testclient",
    headers: dict[str, str] | None = None,
    sign_in: SignInSettings | None = None,
    **settings: Any,
) -> Iterator[TestClient]:
    """Run the application in this process, called from this address without a network.

    127.0.0.1 is its operator until a key is made.
    """
    app = create_app(settings_of(home), ServerSettings(**{"local_operator": True, **settings}), sign_in)
    with TestClient(app, base_url="http://localhost", client=(address, 50_000), headers=headers) as client:
        yield client


@contextmanager
def serving_with_model(
    home: Path, tmp_path: Path, *behaviours: Behaviour, **environment: object
) -> Iterator[tuple[Served, Model]]:
    """Run `shrag serve` with a model that meets its calls so, none of them again; yield both."""
    with model_served(*behaviours) as model:
        llm = {"llm__base_url": model.base_url, "llm__model": "tiny-writer", "llm__allow_plain_http": "true"}
        llm["llm__strategy_calls"] = "one"
        with serving(home, tmp_path / "log", **llm, llm__retries=0, **environment) as server:
            yield server, model


def copy_of(sample_home: Path, home: Path, *names: str) -> Path:
    """Fill a home with the sample, under these names too, and without what a server remembers."""
    home.mkdir(exist_ok=True)
    for name in (NAME, *names):
        (home / name).symlink_to(sample_home / NAME)
    return home


def add_key(home: Path, **options: Any) -> str:
    """Add a key to the store of a home; return its text."""
    text, record = make_key(**options)
    Keys(Store(home)).add(record)
    return text


def message(method: str, params: Any = None, number: int = 1) -> dict[str, Any]:
    """Return a message of the Model Context Protocol."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def tool_call(client: Any, name: str, arguments: Any, **headers: str) -> Any:
    """Call a tool of the Model Context Protocol over HTTP; return its result."""
    call = message("tools/call", {"name": name, "arguments": arguments})
    return client.post("/mcp", json=call, headers=TOOL_CALLS | headers).json()["result"]


def probe(client: TestClient) -> Any:
    """Return the answer of /readyz when the indexes are open, or cannot be opened."""
    return wait_for(lambda: client.get("/readyz"), lambda answer: answer.json().get("code") != "starting")


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """Wait until the server answers."""
    ends = time.monotonic() + START_S
    while time.monotonic() < ends:
        if process.poll() is not None:
            break
        if found := ADDRESS.search(log.read_text("utf-8", "replace")):
            url = found[1]
            try:
                if httpx.get(f"{url}/readyz", timeout=10, verify=False).status_code == httpx.codes.OK:
                    return url
            except httpx.TransportError:
                pass
        time.sleep(0.05)
    raise AssertionError(f"the server does not answer: {log.read_text('utf-8', 'replace')[-4_000:]}")


def wait_for(ask: Callable[[], Found], holds: Callable[[Found], bool]) -> Found:
    """Ask until what is found is as it should be, and return it."""
    ends = time.monotonic() + START_S
    while not holds(found := ask()):
        assert time.monotonic() < ends, found
        time.sleep(0.05)
    return found


def post_and_leave(url: str, when: threading.Event, **call: Any) -> None:
    """Post a call, and break the connection off when something has come about."""

    async def post() -> None:
        async with httpx.AsyncClient(timeout=START_S) as client:
            posted = asyncio.create_task(client.post(url, **call))
            assert await asyncio.to_thread(when.wait, START_S)
            posted.cancel()
            await asyncio.wait((posted,))
            assert posted.cancelled()

    asyncio.run(post())


@dataclass(frozen=True)
class Event:
    """An event: its number, its name, and its data."""

    number: int
    name: str
    data: Any


def events_of(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events of a stream's lines; comments are left out."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if "data" in fields:
                yield Event(int(fields.get("id", 0)), fields["event"], json.loads(fields["data"]))
            fields = {}
            continue
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
