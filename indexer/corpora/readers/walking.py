"""The files below a folder of a corpus.

Links are followed within the folder, and out of it only on request. Kernel file systems are never entered, as
their files may be endless, or have side effects.
"""

import errno
import os
import stat
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

KERNEL_FOLDERS = ("/proc", "/sys")
KERNEL_FILE_SYSTEMS = frozenset(
    "binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl mqueue proc pstore "
    "securityfs sysfs tracefs".split()
)
MOUNTS = Path("/proc/self/mountinfo")
MISSING_TARGET = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})  # errors of broken links


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with its name below the folder, with `/`.

    `target` is the target of a link: relative to the folder, or absolute if outside. `problem` is the reason
    why it cannot be read.
    """

    name: str
    size: int = 0
    target: str = ""
    problem: str = ""


@dataclass(slots=True)
class Walk:
    """The files below a folder in any order, and the skipped entries, by name below the folder."""

    files: list[FoundFile] = field(default_factory=list)
    unreadable: list[FoundFile] = field(default_factory=list)  # folders
    links: list[str] = field(default_factory=list)  # links out of the folder, or broken ones
    kernel: list[str] = field(default_factory=list)  # in kernel file systems
    special: list[str] = field(default_factory=list)  # FIFOs, sockets and devices


@dataclass(frozen=True, slots=True)
class _Folder:
    name: str  # below the corpus folder, "" for itself
    path: Path  # with links resolved
    target: str = ""  # as in FoundFile


def walk(folder: Path, *, follow_links: bool = False) -> Walk:
    """List the non-hidden files below a folder.

    A folder is entered once, by its own name rather than through a link. Links out of the folder are followed
    only with `follow_links`.
    """
    found, root = Walk(), Path(os.path.realpath(folder))
    devices = kernel_devices(_mounts())
    entered: set[tuple[int, int]] = set()
    folders, links = [_Folder("", root)], list[str]()
    while folders or links:
        # Links are followed after all folders have been entered by their own names.
        below = folders.pop() if folders else _behind_link(links.pop(), root)
        if below.target.startswith("/") and not follow_links:
            found.links.append(below.name)
            continue
        try:
            status = below.path.stat()
            if is_kernels(below.path, status.st_dev, devices):
                found.kernel.append(below.name)
                continue
            if not stat.S_ISDIR(status.st_mode):
                _add_file(status, below, found)
                continue
            if (status.st_dev, status.st_ino) in entered:
                continue
            entered.add((status.st_dev, status.st_ino))
            with os.scandir(below.path) as entries:
                # Sorted, so that the choice between two links to one folder is deterministic.
                listed = sorted(entries, key=lambda entry: entry.name, reverse=True)
        except OSError as error:
            if below.target and error.errno in MISSING_TARGET:
                found.links.append(below.name)
            else:
                what = "the target of the link" if below.target else "the folder"
                problem = f"{what} cannot be read: {error.strerror}"
                found.unreadable.append(FoundFile(below.name, problem=problem))
            continue
        _sort_entries(listed, below, found, folders, links)
    found.links.sort()
    found.special.sort()
    return found


def _add_file(status: os.stat_result, below: _Folder, found: Walk) -> None:
    if stat.S_ISREG(status.st_mode):
        found.files.append(FoundFile(below.name, status.st_size, below.target))
    else:
        found.special.append(below.name)


def _behind_link(name: str, root: Path) -> _Folder:
    path = Path(os.path.realpath(root / name))
    return _Folder(name, path, str(path.relative_to(root)) if path.is_relative_to(root) else str(path))


def _sort_entries(
    entries: "list[os.DirEntry[str]]", below: _Folder, found: Walk, folders: list[_Folder], links: list[str]
) -> None:
    """Add the files of a folder to the result, and its folders and links to the queue."""
    for entry in entries:
        if is_hidden(entry.name):
            continue
        name = f"{below.name}/{entry.name}".lstrip("/")
        target = f"{below.target}/{entry.name}" if below.target else ""
        try:
            if entry.is_symlink():
                links.append(name)
            elif entry.is_dir():
                folders.append(_Folder(name, below.path / entry.name, target))
            elif entry.is_file():
                found.files.append(FoundFile(name, entry.stat().st_size, target))
            else:
                found.special.append(name)
        except OSError as error:
            found.files.append(FoundFile(name, problem=f"the file cannot be read: {error.strerror}"))


def is_hidden(name: str) -> bool:
    """Check for a hidden or irrelevant name of a file or folder."""
    return name.startswith((".", "__MACOSX"))


def is_kernels(path: Path, device: int, devices: Collection[int]) -> bool:
    """Check whether a file or folder, by its real path and device, belongs to the kernel."""
    return device in devices or any(path.is_relative_to(folder) for folder in KERNEL_FOLDERS)


def kernel_devices(mounts: str) -> frozenset[int]:
    """Return the devices of kernel file systems from the text of /proc/self/mountinfo (proc(5))."""
    devices: set[int] = set()
    for line in mounts.splitlines():
        place, _, kind = line.partition(" - ")
        with suppress(ValueError, IndexError):
            major, _, minor = place.split()[2].partition(":")
            if kind.split()[0] in KERNEL_FILE_SYSTEMS:
                devices.add(os.makedev(int(major), int(minor)))
    return frozenset(devices)


def _mounts() -> str:
    try:
        return MOUNTS.read_text("utf-8", "replace")
    except OSError:
        return ""
