"""Elasticsearch servers for the tests, alone or as a cluster, to be killed, paused and started again.

    python -m tests.service.elasticsearch.server [--heap 1g] [--nodes 3] [--java-options ""]

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
from collections.abc import Iterator, Mapping, Sequence
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
SETTINGS: Mapping[str, object] = {
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
class Node:
    """Where one server of a cluster listens and keeps its files."""

    name: str
    http_port: int
    transport_port: int
    folder: Path


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

    def environment(self, node: Node) -> dict[str, str]:
        """Return all that the tools see of the environment."""
        return {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": str(node.folder),
            "ES_JAVA_HOME": str(self.jdk),
            "ES_JAVA_OPTS": self.java_options,
            "CLI_JAVA_OPTS": QUICK_START,
            "ES_PATH_CONF": str(node.folder / "config"),
            "ES_TMPDIR": str(node.folder / "tmp"),
        }


def settings_of(node: Node, nodes: Sequence[Node], changed: Mapping[str, object]) -> dict[str, object]:
    """Return the settings of one server among those that form a cluster with it; `changed` wins."""
    together: dict[str, object] = {"discovery.type": "single-node"}
    if len(nodes) > 1:
        together = {
            "discovery.seed_hosts": [f"127.0.0.1:{other.transport_port}" for other in nodes],
            "cluster.initial_master_nodes": [other.name for other in nodes],
        }
    own = {
        "cluster.name": f"shrag-tests-{nodes[0].transport_port}",
        "node.name": node.name,
        "http.port": node.http_port,
        "transport.port": node.transport_port,
        "path.data": str(node.folder / "data"),
        "path.logs": str(node.folder / "logs"),
    }
    return {**SETTINGS, **together, **own, **changed}


class Server(Processes):
    """One server, on data that outlive its processes: a launcher, and the server itself."""

    def __init__(self, node: Node, program: Program, access: Access) -> None:
        super().__init__(node.folder, STOP_SECONDS)
        self.node = node
        self.access = access
        self._program = program

    def launch(self) -> None:
        """Start it and do not wait until it answers."""
        self.start(self._program.command("elasticsearch"), self._program.environment(self.node))

    def wait_until_ready(self, nodes: int = 1) -> None:
        """Wait until the cluster has so many nodes and is at least yellow.

        Raises:
            ServerFailed: it ended, or the time is up.
        """
        deadline = time.monotonic() + START_SECONDS
        while True:
            answer = health_of(self.access, nodes)
            if answer == READY:
                return
            if self.ended:
                raise ServerFailed(f"Elasticsearch ended while it started\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise ServerFailed(
                    f"Elasticsearch is not ready after {START_SECONDS} s: {answer}\n{self.log_tail()}"
                )
            time.sleep(0.2)

    def restart(self, nodes: int = 1) -> None:
        """Start it again on the same data and port, after stopping it where it still runs, and wait."""
        self.stop()
        self.launch()
        self.wait_until_ready(nodes)


READY = "ready"


def health_of(access: Access, nodes: int = 1) -> str:
    """Return `READY` where the cluster has so many nodes and is at least yellow, else what it answers."""
    wanted = {"wait_for_status": "yellow", "wait_for_nodes": f">={nodes}", "timeout": "1s"}
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
def running_cluster(
    nodes: int,
    *,
    heap: str = "512m",
    settings: Mapping[str, object] | None = None,
    java_options: str = QUICK_START,
    wait: bool = True,
) -> Iterator[tuple[Server, ...]]:
    """Start servers that form a cluster, in a temporary folder, and end them and remove it however this ends.

    Without `wait` they may still be starting.

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
        servers = _prepared(_nodes(nodes, folder), program, settings or {})
        for server in servers:
            stack.callback(server.kill)
            server.launch()
        for server in servers if wait else ():
            server.wait_until_ready(nodes)
        yield servers


@contextmanager
def running_server(
    *,
    heap: str = "512m",
    settings: Mapping[str, object] | None = None,
    java_options: str = QUICK_START,
    wait: bool = True,
) -> Iterator[Server]:
    """Start one server; as `running_cluster`."""
    with running_cluster(1, heap=heap, settings=settings, java_options=java_options, wait=wait) as (server,):
        yield server


def _nodes(count: int, folder: Path) -> list[Node]:
    ports = free_ports(2 * count)
    return [
        Node(f"node-{number}", ports.pop(), ports.pop(), folder / f"node-{number}")
        for number in range(1, count + 1)
    ]


def _prepared(nodes: Sequence[Node], program: Program, changed: Mapping[str, object]) -> tuple[Server, ...]:
    """Write the folders of the nodes, with one password for all."""
    password = secrets.token_urlsafe(12)
    for node in nodes:
        shutil.copytree(program.server / "config", node.folder / "config")
        for name in ("data", "logs", "tmp"):
            (node.folder / name).mkdir()
        settings = settings_of(node, nodes, changed)
        lines = [f"{name}: {json.dumps(value)}\n" for name, value in settings.items()]  # JSON is YAML
        (node.folder / "config" / "elasticsearch.yml").write_text("".join(lines), encoding="utf-8")
        _give_away(node.folder)
    _set_password(nodes, program, password)
    return tuple(
        Server(node, program, Access(f"http://127.0.0.1:{node.http_port}", "elastic", password))
        for node in nodes
    )


def _set_password(nodes: Sequence[Node], program: Program, password: str) -> None:
    keystore = Path("config") / "elasticsearch.keystore"
    done = subprocess.run(
        program.command("elasticsearch-keystore", "add", "--stdin", "--force", "bootstrap.password"),
        env=program.environment(nodes[0]),
        input=password,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ServerFailed(f"elasticsearch-keystore ended with {done.returncode}:\n{done.stdout}")
    for node in nodes[1:]:
        shutil.copyfile(nodes[0].folder / keystore, node.folder / keystore)
        _give_away(node.folder)


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
@click.option("--heap", default="512m", show_default=True, help="Memory of each node.")
@click.option("--nodes", default=1, show_default=True, help="How many form the cluster.")
@click.option(
    "--java-options",
    default=QUICK_START,
    show_default=True,
    help="Options of the virtual machine; empty where speed is measured.",
)
def main(heap: str, nodes: int, java_options: str) -> None:
    """Run Elasticsearch until Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with running_cluster(nodes, heap=heap, java_options=java_options) as servers, suppress(KeyboardInterrupt):
        click.echo(f"SHRAG_TEST_ELASTICSEARCH_URL={servers[0].access.url}")
        click.echo(f"SHRAG_TEST_ELASTICSEARCH_PASSWORD={servers[0].access.password}")
        for server in servers[1:]:
            click.echo(f"# {server.node.name}: {server.access.url}")
        while True:
            signal.pause()


if __name__ == "__main__":
    main()
