"""Python, the libraries that SHRAG needs, and which extras are installed."""

import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from base.extras import extra_remedy
from stack.doctor.findings import Examined, Finding

LOCKS = Path(__file__).parents[3] / "requirements"
PINNED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)", re.MULTILINE)
NAME = re.compile(r"[A-Za-z0-9._-]+")
EXTRA = re.compile(r"extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"]")
SHOWN_EXTRAS = ("elasticsearch", "models")
OLDEST, NEWEST = (3, 11), (3, 12)


def check_libraries(examined: Examined) -> Iterator[Finding]:
    """Report the versions; a missing library is wrong, one that differs from the lock file is a warning."""
    del examined
    supported = OLDEST <= sys.version_info[:2] <= NEWEST
    yield Finding(
        "Python",
        "ok" if supported else "wrong",
        platform.python_version(),
        configured="3.11 or 3.12",
        mend="" if supported else "make install PYTHON=python3.11",
    )
    needed = requirements_by_extra()
    missing, installed = _sorted_out(needed.get("", ()))
    if missing:
        yield Finding("needed", "wrong", f"missing: {', '.join(missing)}", mend="make install")
    else:
        yield _beside_the_lock("needed", installed, "base.txt", "make install")
    for extra in SHOWN_EXTRAS:
        missing, installed = _sorted_out(needed.get(extra, ()))
        if missing:
            found = f"not installed ({', '.join(missing)} missing)"
            yield Finding(f"extra {extra}", "not configured", found, mend=extra_remedy(extra))
        else:
            yield _beside_the_lock(f"extra {extra}", installed, f"{extra}.txt", f"make install-{extra}")


def requirements_by_extra() -> dict[str, tuple[str, ...]]:
    """Return the names of the libraries that the installed project requires, by extra; "" for all."""
    found: dict[str, list[str]] = {}
    for line in distribution("shrag").requires or ():
        extra, name = EXTRA.search(line), NAME.match(line)
        if name:
            found.setdefault(extra["extra"] if extra else "", []).append(name.group())
    return {extra: tuple(names) for extra, names in found.items()}


def pinned_versions(lock: str) -> dict[str, set[str]]:
    """Return the versions that a lock file allows; several if markers choose between them."""
    found: dict[str, set[str]] = {}
    for line in PINNED.finditer(lock):
        found.setdefault(_plain(line["name"]), set()).add(line["version"])
    return found


def _sorted_out(names: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    missing, installed = [], {}
    for name in names:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            missing.append(name)
    return missing, installed


def _beside_the_lock(subject: str, installed: dict[str, str], lock: str, install: str) -> Finding:
    found = ", ".join(f"{name} {number}" for name, number in installed.items())
    path = LOCKS / lock
    if not path.is_file():
        return Finding(subject, "ok", found)
    pins = pinned_versions(path.read_text("utf-8"))
    other = [
        f"{name} {one} (locked: {', '.join(sorted(pins[_plain(name)]))})"
        for name, one in installed.items()
        if _plain(name) in pins and one not in pins[_plain(name)]
    ]
    if other:
        return Finding(
            subject, "warning", f"not as locked: {'; '.join(other)}", configured=lock, mend=install
        )
    return Finding(subject, "ok", found, configured=lock)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
