"""The number of usable cores, in control groups: trees of files as the kernel shows them."""

import os

import pytest

from base.cores import usable_cores

CORES = 16
GROUP = "0::/system.slice/shrag.service\n"
SLICE = "sys/fs/cgroup/system.slice"
OWN = f"{SLICE}/shrag.service/cpu.max"


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        (GROUP, {OWN: "150000 100000\n"}, 2),
        (GROUP, {OWN: "max 100000\n"}, CORES),
        (GROUP, {OWN: "max 100000\n", f"{SLICE}/cpu.max": "300000 100000"}, 3),
        ("12:cpu:/docker\n0::/\n", {"sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4),
        (GROUP, {OWN: "much\n"}, CORES),
        ("garbage\n::\n0::/../../etc\n", {}, CORES),
    ],
)
def test_a_quota_bounds_the_cores(tmp_path, monkeypatch, groups, files, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CORES)))
    assert usable_cores(tmp_path) == CORES
    for name, content in {"proc/self/cgroup": groups, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert usable_cores(tmp_path) == expected
