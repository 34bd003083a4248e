"""The machine: Python and the libraries, the settings and access to their file, and disk space."""

import os
import platform
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from importlib.metadata import requires
from pathlib import Path

from base.extras import extra_remedy
from base.files.toml_text import toml_value
from base.settings.fields import PREFIX, variable_at
from base.settings.file import CONFIG, NAME, distrusted, is_private_group, read_settings_file
from base.settings.sources import all_settings
from base.versions import NOT_INSTALLED, installed_version
from indexer.settings import EncoderSettings
from stack.doctor.findings import Examined, Finding, Status
from stack.settings_listing import SettingInForce, settings_in_force

LOCKS = Path(__file__).parents[2] / "requirements"
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
REQUIRED = re.compile(r"([A-Za-z0-9._-]+)(?:.*extra\s*==\s*['\"]([^'\"]+)['\"])?")
SHOWN_EXTRAS = ("elasticsearch", "models")
OLDEST, NEWEST = (3, 11), (3, 12)
OF_TESTS = "SHRAG_TEST_"
# A version of 100,000 passages needs about 200 MB; an update temporarily needs the same again.
LITTLE, TOO_LITTLE = 5_000_000_000, 500_000_000


def check_libraries(_: Examined) -> Iterator[Finding]:
    """Report the versions; a missing library is wrong, one that differs from the lock file is a warning."""
    status: Status = "ok" if OLDEST <= sys.version_info[:2] <= NEWEST else "wrong"
    remedy = "" if status == "ok" else "make install PYTHON=python3.11"
    yield Finding("Python", status, platform.python_version(), "3.11 or 3.12", remedy)
    required = [found.groups("") for line in requires("shrag") or () if (found := REQUIRED.match(line))]
    for extra in ("", *SHOWN_EXTRAS):
        yield _libraries(extra, [name for name, its_extra in required if its_extra == extra])


def _libraries(extra: str, names: list[str]) -> Finding:
    subject = f"extra {extra}" if extra else "needed"
    versions = {name: installed_version(name) for name in names}
    if missing := [name for name, number in versions.items() if number == NOT_INSTALLED]:
        status: Status = "not configured" if extra else "wrong"
        remedy = extra_remedy(extra) if extra else "make install"
        return Finding(subject, status, f"missing: {', '.join(missing)}", remedy=remedy)
    lock = LOCKS / f"{extra or 'base'}.txt"
    pinned = PINNED.findall(lock.read_text("utf-8")) if lock.is_file() else []
    other = []
    for name, number in versions.items():
        locked = [pin for pinned_name, pin in pinned if _plain(pinned_name) == _plain(name)]
        if locked and number not in locked:  # several, if markers choose between them
            other.append(f"{name} {number} (locked: {', '.join(locked)})")
    if other:
        install = f"make install-{extra}" if extra else "make install"
        return Finding(subject, "warning", f"not as locked: {'; '.join(other)}", lock.name, install)
    return Finding(subject, "ok", ", ".join(map(" ".join, versions.items())), lock.name if pinned else "")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def check_settings(_: Examined) -> Iterator[Finding]:
    """Report the file, each set value with its source, and variables without effect."""
    file = read_settings_file()
    found = settings_in_force(file)
    if file is None:
        yield Finding("file", "not configured", f"there is no {NAME}: variables and defaults apply")
    else:
        yield Finding("file", "ok", f"{len(file.values)} keys and tables", str(file.path))
        yield from _permissions(file.path, found)
    for each in found:
        if each.source:
            shown = each.shown if isinstance(each.shown, str) else toml_value(each.shown)
            yield Finding(each.setting.key, "ok", shown, each.source)
    yield from _unknown_variables()


def _permissions(path: Path, found: list[SettingInForce]) -> Iterator[Finding]:
    """Warn if others can write the file, or can read it although it contains a key."""
    status = path.stat()
    if why := distrusted(path):
        yield Finding("file, permissions", "warning", why, str(path), f"chmod go-w {path}, or make it yours")
    secrets = [each.setting.key for each in found if each.setting.secret and each.source == str(path)]
    by_group = status.st_mode & stat.S_IRGRP and not is_private_group(status.st_gid)
    if secrets and (by_group or status.st_mode & stat.S_IROTH):
        what = f"others can read it, and it contains {', '.join(secrets)}"
        yield Finding("file, secrets", "warning", what, str(path), f"chmod 600 {path}")


def _unknown_variables() -> Iterator[Finding]:
    known, tables = {CONFIG}, [f"{each.variable}__" for each in all_settings().values() if dict in each.kinds]
    for place in all_settings():
        known |= {variable_at(place[:length]) for length in range(1, len(place) + 1)}
    for name in sorted(os.environ):
        upper = name.upper()
        if not upper.startswith(PREFIX) or upper in known or upper.startswith((OF_TESTS, *tables)):
            continue
        near = get_close_matches(upper, sorted(known), 1)
        remedy = f"did you mean {near[0]}?" if near else "see shrag settings for all settings"
        yield Finding(name, "warning", "no setting has this name, so it has no effect", remedy=remedy)


def check_disk(examined: Examined) -> Iterator[Finding]:
    """Report the free space of each folder that the settings write to or read weights from."""
    settings = examined.settings.indexer
    yield _space("home", settings.home, "SHRAG_HOME")
    if settings.encoder.provider == "local":
        yield _space("weights", weights_folder(settings.encoder), "SHRAG_ENCODER__CACHE")


def weights_folder(encoder: EncoderSettings) -> Path:
    """Return the folder with the weights of a local encoder."""
    if Path(encoder.model).is_dir():
        return Path(encoder.model)
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return encoder.cache or Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")


def _space(subject: str, folder: Path, variable: str) -> Finding:
    free = shutil.disk_usage(nearest_folder(folder)).free
    status = space_status(free)
    remedy = "" if status == "ok" else f"free space, or set {variable} to another disk"
    return Finding(subject, status, f"{free / 1e9:,.1f} GB free", str(folder), remedy)


def nearest_folder(path: Path) -> Path:
    """Return the path itself, or its nearest existing parent folder."""
    # Unlike Path.exists, os.path.exists does not raise if a folder is not accessible.
    parents = (path, *path.absolute().parents)
    return next((folder for folder in parents if os.path.exists(folder)), Path("/"))  # noqa: PTH110


def space_status(free: int) -> Status:
    """Return the status of a number of free bytes."""
    if free < TOO_LITTLE:
        return "wrong"
    return "warning" if free < LITTLE else "ok"
