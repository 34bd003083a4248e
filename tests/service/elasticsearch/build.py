"""The server that the tests start: Elasticsearch's small distribution on Maven Central, and two plugins.

    python -m tests.service.elasticsearch.build

fetches, checks, unpacks and compiles where that is not done yet, and prints the folder. It lies outside the
checkout, in $XDG_CACHE_HOME/shrag-tests (~/.cache/shrag-tests), under a name that changes with all that it
is made of. What was fetched stays in Maven's own cache.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import click

from tests.service.building import BuildFailed, ServerUnavailable, built_once, run_tool

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


def installed_server() -> Path:
    """Return the folder of the server, which is made first where it is not there yet.

    Raises:
        ServerUnavailable: Maven or a JDK is missing, or Maven cannot fetch.
        BuildFailed: a checksum differs, or a plugin does not compile.
    """
    return built_once(f"{Path(ARCHIVE).stem}-{_fingerprint()}", "elasticsearch", _build)


def _fingerprint() -> str:
    files = [Path(__file__), *(path for path in PLUGIN.rglob("*") if path.is_file())]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


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
    _fetch(scratch)
    with ZipFile(scratch / ARCHIVE) as archive:
        archive.extractall(scratch)
    server = scratch / Path(ARCHIVE).stem
    _add_plugins(server, scratch / NORI, jdk, scratch / "classes")
    # zipfile forgets what is executable, and a umask may close the rest.
    for path in (server, *server.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.parent == server / "bin" else 0o644)
    return server


def _fetch(folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise ServerUnavailable("no Maven found: install it (mvn on the PATH)")
    # --update-snapshots also tries again what failed before, which Maven otherwise remembers for a day.
    options = ["--batch-mode", "--quiet", "--update-snapshots", "--file", str(PLUGIN / "pom.xml")]
    try:
        run_tool([maven, *options, f"-DoutputDirectory={folder}", "dependency:copy@fetch"])
    except BuildFailed as failed:
        raise ServerUnavailable(f"Maven could not fetch Elasticsearch: {failed}") from failed
    for name, expected in SUMS.items():
        with (folder / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise BuildFailed(f"{name} has not the SHA-256 that {PLUGIN / 'artifacts.sha256'} names")


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


if __name__ == "__main__":
    click.echo(installed_server())
