"""The machine: Python and the libraries, the settings and access to their file, and disk space."""

import os
import platform
import re
import shutil
import stat
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

from base.extras import extra_remedy
from base.settings.fields import PREFIX, variable_at
from base.settings.file import CONFIG, NAME, read_settings_file
from base.settings.sources import LISTS_ALL, all_settings, similar_settings
from base.versions import NOT_INSTALLED, installed_version
from indexer.settings import EncoderSettings
from stack.doctor.findings import Examined, Finding, Status
from stack.settings_listing import settings_in_force

LOCKS = Path(__file__).parents[2] / "requirements"
PINNED = re.compile(r"^([a-z0-9-]+)==([^\s;\\]+)", re.MULTILINE)
REQUIRED = re.compile(r"([A-Za-z0-9._-]+)(?:.*extra\s*==\s*['\"]([^'\"]+)['\"])?")
SHOWN_EXTRAS = "server citing pdf parquet hub plots elasticsearch models".split()
OLDEST, NEWEST = (3, 11), (3, 12)
OF_TESTS = "SHRAG_TEST_"
# A version of 100,000 passages needs about 200 MB; an update temporarily needs the same again.
LITTLE, TOO_LITTLE = 5_000_000_000, 500_000_000


def check_libraries(_: Examined) -> Iterator[Finding]:
    """Report the versions; a missing library is wrong, one that differs from the lock file is a warning."""
    supported = OLDEST <= sys.version_info[:2] <= NEWEST
    status: Status = "ok" if supported else "wrong"
    remedy = "" if supported else "make install PYTHON=python3.11"
    yield Finding("Python", status, platform.python_version(), "3.11 or 3.12", remedy)
    required = [each.groups("") for line in requires("shrag") or () if (each := REQUIRED.match(line))]
    for extra in ("", *SHOWN_EXTRAS):
        versions = {name: installed_version(name) for name, its_extra in required if its_extra == extra}
        subject, remedy = (f"extra {extra}", extra_remedy(extra)) if extra else ("needed", "make install")
        lock, locked = LOCKS / f"{extra or 'base'}.txt", defaultdict[str, list[str]](list)
        for name, number in PINNED.findall(lock.read_text("utf-8")) if lock.is_file() else ():
            locked[name].append(number)  # several versions, if markers choose between them
        status = "ok"
        found, configured = ", ".join(map(" ".join, versions.items())), lock.name if locked else ""
        if missing := [name for name, number in versions.items() if number == NOT_INSTALLED]:
            status, found = "not configured" if extra else "wrong", f"missing: {', '.join(missing)}"
        elif other := [name for name, number in versions.items() if number not in locked.get(name, [number])]:
            named = (f"{name} {versions[name]} (locked: {', '.join(locked[name])})" for name in other)
            status, found = "warning", f"not as locked: {'; '.join(named)}"
        yield Finding(subject, status, found, configured, "" if status == "ok" else remedy)


def check_settings(_: Examined) -> Iterator[Finding]:
    """Report the file and access to it, each set value with its source, and variables without effect."""
    file = read_settings_file()
    found = settings_in_force(file)
    if file is None:
        yield Finding("file", "not configured", f"there is no {NAME}: variables and defaults apply")
    else:
        path, status = str(file.path), file.path.stat()
        yield Finding("file", "ok", f"{len(file.values)} keys and tables", path)
        secrets = [each.setting.key for each in found if each.setting.secret and each.source == path]
        if secrets and status.st_mode & stat.S_IROTH:
            what = f"everybody can read it, and it contains {', '.join(secrets)}"
            yield Finding("file, secrets", "warning", what, path, f"chmod 600 {path}")
    for each in found:
        if each.source:
            yield Finding(each.setting.key, "ok", each.text, each.source)
    settings = all_settings()
    tables = (f"{each.variable}__" for each in settings.values() if dict in each.kinds)
    groups = (variable_at(place[:length]) for place in settings for length in range(1, len(place) + 1))
    known, allowed = {CONFIG, *groups}, (OF_TESTS, *tables)
    for name in sorted(os.environ):
        if (
            (upper := name.upper()).startswith(PREFIX)
            and upper not in known
            and not upper.startswith(allowed)
        ):
            near = ", ".join(each.variable for each in similar_settings(name))
            remedy = f"there is {near}" if near else LISTS_ALL
            yield Finding(name, "warning", "no setting has this name, so it has no effect", remedy=remedy)


def check_disk(examined: Examined) -> Iterator[Finding]:
    """Report the free space of each folder that the settings write to or read weights from."""
    settings = examined.settings.indexer
    folders = {"home": (settings.home, "SHRAG_HOME")}
    if settings.encoder.provider == "local":
        folders["weights"] = weights_folder(settings.encoder), "SHRAG_ENCODER__CACHE"
    for subject, (folder, variable) in folders.items():
        free = shutil.disk_usage(nearest_folder(folder)).free
        status = space_status(free)
        remedy = "" if status == "ok" else f"free space, or set {variable} to another disk"
        yield Finding(subject, status, f"{free / 1e9:,.1f} GB free", str(folder), remedy)


def weights_folder(encoder: EncoderSettings) -> Path:
    """Return the folder with the weights of a local encoder."""
    if Path(encoder.model).is_dir():
        return Path(encoder.model)
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return encoder.cache or Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")


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
