"""An Elasticsearch server for the tests.

    python -m tests.service.elasticsearch.server [--heap 1g] [--java-options ""]

starts one by hand, prints its address and password, and ends it with Ctrl-C.
"""

import json
import os
import pwd
import secrets
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click
import httpx

from tests.service import processes
from tests.service.building import ServerUnavailable, run_tool
from tests.service.elasticsearch.build import find_jdk, installed_server

START_SECONDS = 300  # a machine that runs other tests beside it takes minutes

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
        """User and password, as clients take them."""
        return self.username, self.password

    def complaint(self) -> str:
        """Return "" where the server is at least yellow, else what it answers."""
        try:
            answer = httpx.get(
                f"{self.url}/_cluster/health",
                params={"wait_for_status": "yellow", "timeout": "1s"},
                auth=self.basic_auth,
                timeout=60,
                trust_env=False,
                verify=False,  # or each look would read all certificates of the machine first
            )
        except httpx.TransportError as error:
            return repr(error)
        return "" if answer.is_success else answer.text


class Server(processes.Server):
    """One server, on data that outlive its processes."""

    access: Access

    def complaint(self) -> str:
        """Return why it is not at least yellow, "" if it is."""
        return self.access.complaint()


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
    with processes.until_the_end("elasticsearch") as (folder, stack):
        server = _prepared(folder, f"-Xms{heap} -Xmx{heap} {java_options}")
        stack.callback(server.kill)
        server.launch()
        if wait:
            server.wait_until_ready(START_SECONDS)
        yield server


def _prepared(above: Path, java_options: str) -> Server:
    """Write the folder of a server with its settings and its password."""
    folder, become = above / "node", list[str]()
    program = installed_server()
    if os.geteuid() == 0:  # which Elasticsearch refuses
        if shutil.which("setpriv") is None:
            raise ServerUnavailable("Elasticsearch does not run as root, and setpriv (util-linux) is missing")
        nobody = pwd.getpwnam("nobody")
        become = [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        above.chmod(0o711)
        program = Path(shutil.copytree(program, above / "program", copy_function=_link))
    http_port, transport_port = processes.free_ports(2)
    settings = SETTINGS | {
        "cluster.name": f"shrag-tests-{transport_port}",
        "http.port": http_port,
        "transport.port": transport_port,
        "path.data": str(folder / "data"),
        "path.logs": str(folder / "logs"),
    }
    environment = {
        "LC_ALL": "C.UTF-8",
        "HOME": str(folder),
        "ES_JAVA_HOME": str(find_jdk()),
        "ES_JAVA_OPTS": java_options,
        "CLI_JAVA_OPTS": QUICK_START,
        "ES_PATH_CONF": str(folder / "config"),
        "ES_TMPDIR": str(folder / "tmp"),
    }
    shutil.copytree(program / "config", folder / "config")
    for name in ("data", "logs", "tmp"):
        (folder / name).mkdir()
    lines = [f"{name}: {json.dumps(value)}\n" for name, value in settings.items()]  # JSON is YAML
    (folder / "config" / "elasticsearch.yml").write_text("".join(lines), encoding="utf-8")
    if become:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
    password = secrets.token_urlsafe(12)
    tool = [*(["setpriv", *become] if become else []), str(program / "bin" / "elasticsearch-keystore")]
    command = [*tool, *"add --stdin --force bootstrap.password".split()]
    run_tool(command, environment=environment, typed=password)
    server = Server(folder, [str(program / "bin" / "elasticsearch")], environment, become)
    server.access = Access(f"http://127.0.0.1:{http_port}", "elastic", password)
    return server


def _link(source: str, target: str) -> None:
    """Link a file of the program where the user that runs it can reach it, which root's home may not be."""
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


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
        signal.pause()


if __name__ == "__main__":
    main()
