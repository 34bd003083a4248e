"""How many cores there are to use, in containers of both kinds: trees of files as the kernel shows them."""

import os

import pytest

from base.cores import usable_cores

CORES = 16

UNIFIED = "0::/system.slice/shrag.service\n"
SLICE = "sys/fs/cgroup/system.slice"
IN_CONTAINER = "12:cpu,cpuacct:/docker/0123\n11:memory:/docker/0123\n0::/\n"
CPU = "sys/fs/cgroup/cpu"


@pytest.fixture(autouse=True)
def cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CORES)))


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        (UNIFIED, {f"{SLICE}/shrag.service/cpu.max": "200000 100000\n"}, 2),
        (UNIFIED, {f"{SLICE}/shrag.service/cpu.max": "150000 100000\n"}, 2),
        (UNIFIED, {f"{SLICE}/shrag.service/cpu.max": "1000 100000\n"}, 1),
        (UNIFIED, {f"{SLICE}/shrag.service/cpu.max": "max 100000\n"}, CORES),
        (UNIFIED, {f"{SLICE}/shrag.service/cpu.max": "9900000 100000\n"}, CORES),
        (UNIFIED, {f"{SLICE}/shrag.service/cpu.max": "max 100000\n", f"{SLICE}/cpu.max": "300000 100000"}, 3),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4),
        ("1:cpu:/\n0::/\n", {"sys/fs/cgroup/unified/cpu.max": "400000 100000\n"}, 4),
        (IN_CONTAINER, {f"{CPU}/cpu.cfs_quota_us": "250000\n", f"{CPU}/cpu.cfs_period_us": "100000\n"}, 3),
        (IN_CONTAINER, {f"{CPU}/cpu.cfs_quota_us": "-1\n", f"{CPU}/cpu.cfs_period_us": "100000\n"}, CORES),
        (
            "3:cpu:/jobs/7\n",
            {
                f"{CPU}/jobs/7/cpu.cfs_quota_us": "500000\n",
                f"{CPU}/jobs/7/cpu.cfs_period_us": "100000\n",
            },
            5,
        ),
        (UNIFIED, {f"{SLICE}/shrag.service/cpu.max": "much\n"}, CORES),
        (UNIFIED, {f"{SLICE}/shrag.service/cpu.max": "100000 0\n"}, CORES),
        (UNIFIED, {}, CORES),
        ("", {}, CORES),
        ("garbage\n::\n0::/../../etc\n", {}, CORES),
    ],
)
def test_a_quota_bounds_the_cores(tmp_path, groups, files, expected):
    for name, content in {"proc/self/cgroup": groups, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert usable_cores(tmp_path) == expected


def test_where_nothing_tells_of_groups_all_cores_count(tmp_path):
    assert usable_cores(tmp_path) == CORES
