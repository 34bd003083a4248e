"""Elasticsearch servers for the tests, to be killed, paused and started again.

    python -m tests.service.elasticsearch.server [--heap 1g] [--java-options ""]

starts one by hand, prints its address and password, and ends it with Ctrl-C.
"""

import atexit
import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click
import httpx

from tests.service.elasticsearch.build import installed_server
from tests.service.elasticsearch.jdk import find_jdk
from tests.service.errors import ServerFailed, ServerUnavailable
from tests.service.processes import Processes, free_ports

START_SECONDS = 300  # a machine that runs other tests beside it takes minutes
STOP_SECONDS = 30

# The quick compiler alone: half the processor time until a server is up, and tests ask little of it later.
QUICK_START = "-XX:TieredStopAtLevel=1"

# The official default, but that a nearly full disk does not make the tests fail.
SETTINGS: dict[str, object] = {
    "discovery.type": "single-node",
    "network.host": "127.0.0.1",
    "xpack.security.enabled": True,
    "xpack.security.authc.api_key.enabled": True,
    "xpack.security.http.ssl.enabled": False,
    "xpack.security.transport.ssl.enabled": False,
    "xpack.ml.enabled": False,
    "cluster.routing.allocation.disk.watermark.low": "3mb",
    "cluster.routing.allocation.disk.watermark.high": "2mb",
    "cluster.routing.allocation.disk.watermark.flood_stage": "1mb",
}


@dataclass(frozen=True, slots=True)
class Access:
    """What a client needs."""

    url: str
    username: str
    password: str

    @property
    def basic_auth(self) -> tuple[str, str]:
        """Return user and password, as clients take them."""
        return self.username, self.password


@dataclass(frozen=True, slots=True)
class Program:
    """What is run and how: the unpacked distribution, its JDK, and the options of the virtual machine."""

    server: Path
    jdk: Path
    java_options: str

    def command(self, tool: str, *arguments: str) -> list[str]:
        """Return a command line that runs a tool of the distribution, as a user whom it accepts: not root.

        Linux kills the tool when the thread that started it ends, however that comes, and the server behind
        the tool ends with it.
        """
        command = [str(self.server / "bin" / tool), *arguments]
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            return command
        become = []
        if os.geteuid() == 0:
            nobody = _unprivileged()
            become = [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        return [setpriv, "--pdeathsig=KILL", *become, *command]

    def environment(self, folder: Path) -> dict[str, str]:
        """Return all that the tools see of the environment."""
        return {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": str(folder),
            "ES_JAVA_HOME": str(self.jdk),
            "ES_JAVA_OPTS": self.java_options,
            "CLI_JAVA_OPTS": QUICK_START,
            "ES_PATH_CONF": str(folder / "config"),
            "ES_TMPDIR": str(folder / "tmp"),
        }


class Server(Processes):
    """One server, on data that outlive its processes: a launcher, and the server itself."""

    def __init__(self, folder: Path, program: Program, access: Access) -> None:
        super().__init__(folder, STOP_SECONDS)
        self.access = access
        self._folder, self._program = folder, program

    def launch(self) -> None:
        """Start it and do not wait until it answers."""
        self.start(self._program.command("elasticsearch"), self._program.environment(self._folder))

    def wait_until_ready(self) -> None:
        """Wait until the server is at least yellow.

        Raises:
            ServerFailed: it ended, or the time is up.
        """
        deadline = time.monotonic() + START_SECONDS
        while True:
            answer = health_of(self.access)
            if answer == READY:
                return
            if self.ended:
                raise ServerFailed(f"Elasticsearch ended while it started\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise ServerFailed(
                    f"Elasticsearch is not ready after {START_SECONDS} s: {answer}\n{self.log_tail()}"
                )
            time.sleep(0.2)

    def restart(self) -> None:
        """Start it again on the same data and port, after stopping it where it still runs, and wait."""
        self.stop()
        self.launch()
        self.wait_until_ready()


READY = "ready"


def health_of(access: Access) -> str:
    """Return `READY` where the server is at least yellow, else what it answers."""
    wanted = {"wait_for_status": "yellow", "timeout": "1s"}
    try:
        answer = httpx.get(
            f"{access.url}/_cluster/health",
            params=wanted,
            auth=access.basic_auth,
            timeout=60,
            trust_env=False,
            verify=False,  # or each look would read all certificates of the machine first
        )
    except httpx.TransportError as error:
        return repr(error)
    return READY if answer.is_success else answer.text


def wait_for(access: Access) -> None:
    """Wait until a server answers that another process has launched.

    Raises:
        ServerFailed: the time is up.
    """
    deadline = time.monotonic() + START_SECONDS
    while (answer := health_of(access)) != READY:
        if time.monotonic() > deadline:
            raise ServerFailed(f"Elasticsearch is not ready after {START_SECONDS} s: {answer}")
        time.sleep(0.5)


@contextmanager
def running_server(
    *, heap: str = "512m", java_options: str = QUICK_START, wait: bool = True
) -> Iterator[Server]:
    """Start a server in a temporary folder, and end it and remove the folder however this ends.

    Without `wait` it may still be starting.

    Raises:
        ServerUnavailable: what is needed to fetch, build or run it is missing.
        ServerFailed: it did not start.
    """
    with ExitStack() as stack:
        atexit.register(stack.close)  # for a generator that nobody closes
        stack.callback(atexit.unregister, stack.close)
        folder = Path(tempfile.mkdtemp(prefix="shrag-elasticsearch-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        options = f"-Xms{heap} -Xmx{heap} {java_options}"
        program = Program(_runnable(installed_server(), folder), find_jdk(), options)
        server = _prepared(folder / "node", program)
        stack.callback(server.kill)
        server.launch()
        if wait:
            server.wait_until_ready()
        yield server


def _prepared(folder: Path, program: Program) -> Server:
    """Write the folder of a server with its settings and its password."""
    http_port, transport_port = free_ports(2)
    settings = SETTINGS | {
        "cluster.name": f"shrag-tests-{transport_port}",
        "http.port": http_port,
        "transport.port": transport_port,
        "path.data": str(folder / "data"),
        "path.logs": str(folder / "logs"),
    }
    shutil.copytree(program.server / "config", folder / "config")
    for name in ("data", "logs", "tmp"):
        (folder / name).mkdir()
    lines = [f"{name}: {json.dumps(value)}\n" for name, value in settings.items()]  # JSON is YAML
    (folder / "config" / "elasticsearch.yml").write_text("".join(lines), encoding="utf-8")
    _give_away(folder)
    password = secrets.token_urlsafe(12)
    done = subprocess.run(
        program.command("elasticsearch-keystore", "add", "--stdin", "--force", "bootstrap.password"),
        env=program.environment(folder),
        input=password,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ServerFailed(f"elasticsearch-keystore ended with {done.returncode}:\n{done.stdout}")
    return Server(folder, program, Access(f"http://127.0.0.1:{http_port}", "elastic", password))


def _runnable(server: Path, folder: Path) -> Path:
    """Return the program where the user that runs it can reach it, which root's home may not be."""
    if os.geteuid() != 0:
        return server
    if shutil.which("setpriv") is None:
        raise ServerUnavailable("Elasticsearch does not run as root, and setpriv (util-linux) is missing")
    folder.chmod(0o711)

    def link(source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError:  # another disk
            shutil.copy2(source, target)

    return Path(shutil.copytree(server, folder / "program", copy_function=link))


def _give_away(folder: Path) -> None:
    """Let the user that runs the servers own the folder."""
    if os.geteuid() != 0:
        return
    nobody = _unprivileged()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)


def _unprivileged() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


@click.command()
@click.option("--heap", default="512m", show_default=True, help="Memory of the server.")
@click.option(
    "--java-options",
    default=QUICK_START,
    show_default=True,
    help="Options of the virtual machine; empty where speed is measured.",
)
def main(heap: str, java_options: str) -> None:
    """Run Elasticsearch until Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with running_server(heap=heap, java_options=java_options) as server, suppress(KeyboardInterrupt):
        click.echo(f"SHRAG_TEST_ELASTICSEARCH_URL={server.access.url}")
        click.echo(f"SHRAG_TEST_ELASTICSEARCH_PASSWORD={server.access.password}")
        while True:
            signal.pause()


if __name__ == "__main__":
    main()
