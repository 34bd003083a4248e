"""The Elasticsearch of the tests: the small distribution on Maven Central with two plugins, built once.

    python -m tests.service.elasticsearch.server [--heap 1g] [--java-options ""]

starts one by hand, prints its address and password, and ends it with Ctrl-C; `--build` only builds. The name
of the built folder changes with all that it is made of. What was fetched stays in Maven's own cache.
"""

import hashlib
import json
import os
import pwd
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import click
import httpx

from tests.service.processes import (
    ServerFailed,
    ServerUnavailable,
    built_once,
    free_ports,
    launch,
    run_tool,
    until_interrupt,
    until_the_end,
    wait_until,
)

PLUGIN = Path(__file__).parent / "plugin"
# Each plugin: its package, and the files beside its classes.
PLUGINS = {
    "analysis": ("stable-plugin-descriptor.properties", "named_components.json"),
    "settling": ("plugin-descriptor.properties",),
}
SUMS: dict[str, str] = {
    name: checksum
    for checksum, name in map(str.split, (PLUGIN / "artifacts.sha256").read_text("utf-8").splitlines())
}
ARCHIVE, NORI = SUMS
OLDEST_JDK = 21
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
    **{
        f"cluster.routing.allocation.disk.watermark.{mark}": f"{megabytes}mb"
        for mark, megabytes in {"low": 3, "high": 2, "flood_stage": 1}.items()
    },
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


def installed_server() -> Path:
    """Return the folder of the server, which is made first where it is not there yet.

    Raises:
        ServerUnavailable: Maven or a JDK is missing, or Maven cannot fetch.
        ServerFailed: a checksum differs, or a plugin does not compile.
    """
    digest = hashlib.sha256()
    for path in sorted(path for path in PLUGIN.rglob("*") if path.is_file()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return built_once(f"{Path(ARCHIVE).stem}-{digest.hexdigest()[:12]}", "elasticsearch", _build)


def find_jdk() -> Path:
    """Return the home of the first JDK that is new enough, from ES_JAVA_HOME, JAVA_HOME, PATH, /usr/lib/jvm.

    Raises:
        ServerUnavailable: there is none.
    """
    named = filter(None, map(os.environ.get, ("ES_JAVA_HOME", "JAVA_HOME")))
    compiler = shutil.which("javac")
    homes = [*map(Path, named), *([Path(compiler).resolve().parents[1]] if compiler else [])]
    for home in (*homes, *sorted(Path("/usr/lib/jvm").glob("*"))):
        if (home / "bin" / "javac").exists():
            command = [str(home / "bin" / "java"), "-version"]
            said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
            version = re.search(r'version "(\d+)', said)
            if version and int(version[1]) >= OLDEST_JDK:
                return home
    remedy = "install one or name its folder in ES_JAVA_HOME"
    raise ServerUnavailable(f"no JDK {OLDEST_JDK} or later found: {remedy}")


def _build(scratch: Path) -> Path:
    jdk = find_jdk()  # looked for before 100 MB are fetched in vain
    maven = shutil.which("mvn")
    if maven is None:
        raise ServerUnavailable("no Maven found: install it (mvn on the PATH)")
    # --update-snapshots also tries again what failed before, which Maven otherwise remembers for a day.
    options = ["--batch-mode", "--quiet", "--update-snapshots", "--file", str(PLUGIN / "pom.xml")]
    try:
        run_tool([maven, *options, f"-DoutputDirectory={scratch}", "dependency:copy@fetch"])
    except ServerFailed as failed:
        raise ServerUnavailable(f"Maven could not fetch Elasticsearch: {failed}") from failed
    for name, expected in SUMS.items():
        if hashlib.sha256((scratch / name).read_bytes()).hexdigest() != expected:
            raise ServerFailed(f"{name} has not the SHA-256 that {PLUGIN / 'artifacts.sha256'} names")
    with ZipFile(scratch / ARCHIVE) as archive:
        archive.extractall(scratch)
    server = scratch / Path(ARCHIVE).stem
    _add_plugins(server, scratch / NORI, jdk, scratch / "classes")
    # zipfile forgets what is executable, and a umask may close the rest.
    for path in (server, *server.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.parent == server / "bin" else 0o644)
    return server


def _add_plugins(server: Path, nori: Path, jdk: Path, classes: Path) -> None:
    classpath = os.pathsep.join(map(str, [*sorted((server / "lib").glob("*.jar")), nori]))
    options = ["--release", "21", "-encoding", "UTF-8", "-Xlint:all", "-Werror", "-d", str(classes)]
    sources = sorted(map(str, PLUGIN.glob("src/**/*.java")))
    run_tool([str(jdk / "bin" / "javac"), *options, "-classpath", classpath, *sources])
    for package, files in PLUGINS.items():
        plugin = server / "plugins" / f"shrag-test-{package}"
        plugin.mkdir()
        jar = plugin / f"{plugin.name}.jar"
        of_plugin = ["-C", str(classes), f"shrag/{package}"]
        run_tool([str(jdk / "bin" / "jar"), "--create", "--file", str(jar), *of_plugin])
        for name in files:
            shutil.copyfile(PLUGIN / name, plugin / name)
    shutil.copyfile(nori, server / "plugins" / "shrag-test-analysis" / nori.name)


@contextmanager
def running_server(
    *, heap: str = "512m", java_options: str = QUICK_START, wait: bool = True
) -> Iterator[Access]:
    """Start a server in a temporary folder, and end it and remove the folder however this ends.

    Without `wait` it may still be starting.

    Raises:
        ServerUnavailable: what is needed to fetch, build or run it is missing.
        ServerFailed: it did not start.
    """
    with until_the_end("elasticsearch") as (above, stack):
        folder, become, program = above / "node", list[str](), installed_server()
        if os.geteuid() == 0:  # which Elasticsearch refuses
            if shutil.which("setpriv") is None:
                missing = "Elasticsearch does not run as root, and setpriv (util-linux) is missing"
                raise ServerUnavailable(missing)
            nobody = pwd.getpwnam("nobody")
            ids = (f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups")
            become = ["setpriv", "--pdeathsig=KILL", *ids]
            above.chmod(0o711)  # where that user can reach it, which root's home may not be
            program = Path(shutil.copytree(program, above / "program", copy_function=_link))
        http_port, transport_port = free_ports(2)
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
            "ES_JAVA_OPTS": f"-Xms{heap} -Xmx{heap} {java_options}",
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
        keystore = [*become, str(program / "bin" / "elasticsearch-keystore")]
        run_tool(
            [*keystore, *"add --stdin --force bootstrap.password".split()], typed=password, **environment
        )
        output = launch(stack, folder, [*become, str(program / "bin" / "elasticsearch")], environment)
        access = Access(f"http://127.0.0.1:{http_port}", "elastic", password)
        if wait:
            wait_until(
                lambda: (complaint := access.complaint()) and f"{complaint}\n{output()}", START_SECONDS
            )
        yield access


def _link(source: str, target: str) -> None:
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
@click.option("--build", is_flag=True, help="Only build, and print the folder.")
def main(heap: str, java_options: str, *, build: bool) -> None:
    """Run Elasticsearch until Ctrl-C."""
    if build:
        click.echo(installed_server())
        return
    with running_server(heap=heap, java_options=java_options) as access, until_interrupt():
        click.echo(f"SHRAG_TEST_ELASTICSEARCH_URL={access.url}")
        click.echo(f"SHRAG_TEST_ELASTICSEARCH_PASSWORD={access.password}")


if __name__ == "__main__":
    main()
