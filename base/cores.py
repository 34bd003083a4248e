"""Number of CPU cores available to this process: its CPU affinity, limited by its control group.

A quota limits the CPU time of all processes of a group per period (Linux, cgroup-v2.rst `cpu.max`; cgroup v1,
sched-bwc.rst `cpu.cfs_quota_us`). The system's core count does not reflect the quota of a container.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# Mount points of the control groups, by version. Both versions may be mounted together.
UNIFIED = ("sys/fs/cgroup", "sys/fs/cgroup/unified")
OF_CPU = ("sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct")


def usable_cores(root: Path = Path("/")) -> int:
    """Return the number of cores, at least 1; fractions are rounded up. `root` is the root folder."""
    return max(1, math.ceil(min([len(os.sched_getaffinity(0)), *_quotas(root)])))


def _quotas(root: Path) -> Iterator[float]:
    """Yield the quotas, in cores, of this process's group and of its parent groups."""
    groups = ""
    with suppress(OSError, ValueError):
        groups = (root / "proc/self/cgroup").read_text(encoding="utf-8")
    for line in groups.splitlines():
        _, kinds, path = (*line.split(":", 2), "", "")[:3]
        unified = not kinds
        for mount in UNIFIED if unified else OF_CPU if "cpu" in kinds.split(",") else ():
            top = root / mount
            group = top / path.lstrip("/")
            # In a container the path may be that of the host. The mount itself is then the process's group.
            for folder in (group, *group.parents):
                if folder == top or top in folder.parents:
                    with suppress(OSError, ValueError, ZeroDivisionError):
                        yield _quota(folder, unified=unified)


def _quota(folder: Path, *, unified: bool) -> float:
    """Return the quota of a group in cores; ValueError if it is unlimited, OSError if the file is missing."""
    if unified:
        share, period = (folder / "cpu.max").read_text(encoding="ascii").split()
    else:
        share, period = ((folder / f"cpu.cfs_{name}_us").read_text("ascii") for name in ("quota", "period"))
    cores = int(share) / int(period)  # "max" (unlimited) raises ValueError
    if cores <= 0:
        raise ValueError("no quota")
    return cores
