"""How many cores this process may use: those that it may run on, as far as its control group lets it.

A quota is the share of a period that all processes of the group may compute (Linux, cgroup-v2.rst `cpu.max`;
cgroup v1, sched-bwc.rst `cpu.cfs_quota_us`); that of a container is not seen in the number of cores.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# Where the groups of each kind are mounted, alone or beside those of the other kind.
UNIFIED = ("sys/fs/cgroup", "sys/fs/cgroup/unified")
OF_CPU = ("sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct")


def usable_cores(root: Path = Path("/")) -> int:
    """Return the number of cores, at least 1; a part of one counts as a whole. `root` stands for /."""
    return max(1, math.ceil(min([len(os.sched_getaffinity(0)), *_quotas(root)])))


def _quotas(root: Path) -> Iterator[float]:
    """Yield the cores that each group lets its processes use: this process's, and those above it."""
    groups = ""
    with suppress(OSError, ValueError):
        groups = (root / "proc/self/cgroup").read_text(encoding="utf-8")
    for line in groups.splitlines():
        _, kinds, path = (*line.split(":", 2), "", "")[:3]
        unified = not kinds
        for mount in UNIFIED if unified else OF_CPU if "cpu" in kinds.split(",") else ():
            top = root / mount
            group = top / path.lstrip("/")
            # In a container the path may be that of the host: there the mount itself is the own group.
            for folder in (group, *group.parents):
                if folder == top or top in folder.parents:
                    with suppress(OSError, ValueError, ZeroDivisionError):
                        yield _quota(folder, unified=unified)


def _quota(folder: Path, *, unified: bool) -> float:
    """Return the cores of a group; ValueError where it has all of them, OSError where it says nothing."""
    if unified:
        share, period = (folder / "cpu.max").read_text(encoding="ascii").split()
    else:
        share, period = ((folder / f"cpu.cfs_{name}_us").read_text("ascii") for name in ("quota", "period"))
    cores = int(share) / int(period)  # "max" is no number
    if cores <= 0:
        raise ValueError("no quota")
    return cores
