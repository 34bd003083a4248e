"""Token buckets: as many calls at once, as many in a time, by all processes together."""

import json
import math
import struct
import subprocess
import sys

import pytest

from server.limits.rates import Buckets, Rate
from server.limits.shared_table import ENTRY_BYTES, SIZE
from tests.indexer.made_corpora import ROOT, environment_of


class Clock:
    """A clock that is set by hand."""

    now = 1_000.0

    def __call__(self):
        return self.now


def test_a_bucket_holds_a_burst_and_fills_by_the_minute():
    clock = Clock()
    rate = Rate(per_minute=60, burst=3)
    with Buckets(clock=clock) as buckets:
        assert [buckets.take("a", rate).left for _ in range(3)] == [2, 1, 0]
        refused = buckets.take("a", rate)
        assert not refused.allowed
        assert refused.wait_s == pytest.approx(1)
        assert buckets.take("b", rate).allowed
        clock.now += 0.9
        assert not buckets.take("a", rate).allowed
        clock.now += 0.2
        assert buckets.take("a", rate).allowed
        assert not buckets.take("a", rate).allowed
        clock.now += 3_600
        assert buckets.take("a", rate).left == 2


def test_the_headers_are_those_of_the_draft():
    rate = Rate(per_minute=30, burst=2)
    with Buckets(clock=Clock()) as buckets:
        first = dict(buckets.take("a", rate).headers("search", rate))
        buckets.take("a", rate)
        refused = dict(buckets.take("a", rate).headers("search", rate))

    assert first == {b"ratelimit-policy": b'"search";q=2;w=4', b"ratelimit": b'"search";r=1;t=0'}
    assert refused[b"ratelimit"] == b'"search";r=0;t=2'


def test_a_table_of_many_callers_forgets_the_quietest():
    clock = Clock()
    rate = Rate(per_minute=60, burst=10)
    with Buckets(clock=clock) as buckets:
        for _ in range(10):
            buckets.take("busy", rate)
        for number in range(50_000):
            buckets.take(f"passing {number}", rate)
        assert not buckets.take("busy", rate).allowed


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e300])
def test_a_damaged_number_closes_a_bucket_for_no_longer_than_it_takes_to_fill(tmp_path, number):
    clock = Clock()
    rate = Rate(per_minute=60, burst=3)
    path = tmp_path / "buckets"
    with Buckets(path, clock=clock) as buckets:
        buckets.take("a", rate)
        data = path.read_bytes()
        at = next(at for at in range(0, SIZE, ENTRY_BYTES) if any(data[at : at + ENTRY_BYTES]))
        written = bytearray(data)
        struct.pack_into("=8sd", written, at, data[at : at + 8], number)
        with path.open("r+b") as file:
            file.write(written)
        clock.now += rate.window
        assert buckets.take("a", rate).allowed


def test_processes_share_a_bucket(tmp_path):
    script = (
        "import json, sys; from pathlib import Path; from server.limits.rates import Buckets, Rate\n"
        "with Buckets(Path(sys.argv[1])) as b:\n"
        "    print(json.dumps(sum(b.take('a', Rate(0.001, 500)).allowed for _ in range(1000))))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "buckets")]
    takers = [
        subprocess.Popen(command, env=environment_of(tmp_path), stdout=subprocess.PIPE, cwd=ROOT)
        for _ in range(3)
    ]
    taken = [json.loads(taker.communicate()[0]) for taker in takers]

    assert 500 <= sum(taken) <= 525  # without the lock after too many tries, as on a loaded machine


def test_a_process_that_stopped_with_the_lock_holds_nobody_up(tmp_path):
    script = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'r+b'); fcntl.lockf(f, fcntl.LOCK_EX)\n"
        "print('held', flush=True); time.sleep(600)\n"
    )
    path = tmp_path / "buckets"
    with Buckets(path) as buckets:
        command = [sys.executable, "-c", script, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout
            holder.stdout.readline()
            assert buckets.take("a", Rate(60, 1)).allowed
            holder.kill()
