"""The JDK that compiles the plugin and runs the server: 21 or later, often not the machine's default."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.service.errors import ServerUnavailable

OLDEST = 21
INSTALLED = Path("/usr/lib/jvm")


def find_jdk() -> Path:
    """Return the home of the first JDK that is new enough.

    Looked for in ES_JAVA_HOME, in JAVA_HOME, on the PATH and in /usr/lib/jvm, in this order.

    Raises:
        ServerUnavailable: there is none.
    """
    for home in _candidates():
        if (home / "bin" / "javac").exists() and _version(home / "bin" / "java") >= OLDEST:
            return home
    raise ServerUnavailable(f"no JDK {OLDEST} or later found: install one or name its folder in ES_JAVA_HOME")


def _candidates() -> Iterator[Path]:
    for variable in ("ES_JAVA_HOME", "JAVA_HOME"):
        if value := os.environ.get(variable):
            yield Path(value)
    if compiler := shutil.which("javac"):
        yield Path(compiler).resolve().parents[1]
    if INSTALLED.is_dir():
        yield from sorted(INSTALLED.iterdir())


def _version(java: Path) -> int:
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=240, check=False
        ).stderr
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', told)
    return int(found[1]) if found else 0
