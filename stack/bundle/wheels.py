"""Wheels: those of a lock, by its hashes, for this Python."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from stack.bundle.manifest import sha256_of

HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})\b")
LOCKS = {
    "base": "base.txt",
    "elasticsearch": "elasticsearch.txt",
    "models": "models.txt",
    "dev": "dev.txt",
}
LAST_LINES = 5  # of what pip says
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")


def python_version() -> str:
    """Return this Python's version as wheels name it, like 3.11."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def download_command(lock: Path, target: Path, platforms: Sequence[str]) -> list[str]:
    """Make the call of pip; it takes what is there already, by its hash, and fetches the rest."""
    command = [*PIP, "download", "--quiet", "--require-hashes", "--only-binary=:all:"]
    command += ["--requirement", str(lock), "--dest", str(target)]
    if platforms:
        command += ["--python-version", python_version(), "--implementation", "cp", "--no-deps"]
        command += [f"--platform={one}" for one in platforms]
    return command


def collect_wheels(lock: Path, target: Path, platforms: Sequence[str]) -> str:
    """Download the wheels of a lock; return why not, or nothing.

    Files of other hashes, which a lock of before asked for, are removed.
    """
    if not lock.is_file():
        return f"the source has no {lock.parent.name}/{lock.name}"
    target.mkdir(parents=True, exist_ok=True)
    known = set(HASH.findall(lock.read_text("utf-8")))
    for path in target.iterdir():
        if sha256_of(path) not in known:
            path.unlink()
    return _complaint_of(download_command(lock, target, platforms))


def why_not_installable(lock: Path, wheels: Path) -> str:
    """Let pip resolve a lock from these wheels alone, installing nothing; return its complaint, or ""."""
    command = [*PIP, "install", "--quiet", "--dry-run", "--ignore-installed", "--no-index"]
    command += [
        "--require-hashes",
        "--only-binary=:all:",
        "--find-links",
        str(wheels),
        "--requirement",
        str(lock),
    ]
    return _complaint_of(command)


def _complaint_of(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip, as made above
    if done.returncode == 0:
        return ""
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in said if line.startswith("ERROR")]
    return " ".join((errors or said)[-LAST_LINES:]) or f"pip ended with {done.returncode}"
