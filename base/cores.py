"""Number of CPU cores available to this process: its CPU affinity, limited by its control group.

A quota limits the CPU time of all processes of a group per period (Linux, cgroup-v2.rst `cpu.max`). The
system's core count does not reflect the quota of a container.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def usable_cores(root: Path = Path("/")) -> int:
    """Return the number of cores, at least 1; fractions are rounded up. `root` is the root folder."""
    return max(1, math.ceil(min([len(os.sched_getaffinity(0)), *_quotas(root)])))


def _quotas(root: Path) -> Iterator[float]:
    """Yield the quotas, in cores, of this process's group and of its parent groups."""
    groups, top = "", root / "sys/fs/cgroup"
    with suppress(OSError, ValueError):
        groups = (root / "proc/self/cgroup").read_text("utf-8")
    for line in groups.splitlines():
        group = top / line.removeprefix("0::").lstrip("/")
        # In a container the path may be that of the host. The mount itself is then the process's group.
        for folder in (group, *group.parents) if line.startswith("0::") else ():
            if folder == top or top in folder.parents:
                with suppress(OSError, ValueError, ZeroDivisionError):  # missing, or "max" (unlimited)
                    share, period = (folder / "cpu.max").read_text("ascii").split()
                    yield int(share) / int(period)
