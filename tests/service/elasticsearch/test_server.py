"""The servers of the tests go when the tests go, and a cluster of the user's is taken instead."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.service.elasticsearch.conftest import given_access
from tests.service.elasticsearch.server import Access
from tests.service.processes import states_of_group

ROOT = Path(__file__).parents[3]

# A test run that starts a server, pauses it where asked, and tells its folder and its process group.
TEST_RUN = """
import sys, time
from tests.service.elasticsearch.server import running_server

with running_server() as server:
    if sys.argv[1] == "paused":
        server.pause()
    print(server.node.folder.parent, server.group, flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("state", ["running", "paused"])
def test_a_server_dies_with_a_test_run_that_is_killed(own_server, state):
    run = subprocess.Popen(
        [sys.executable, "-c", TEST_RUN, state], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with run:
        assert run.stdout is not None
        folder, group = run.stdout.readline().split()
        run.kill()

    deadline = time.monotonic() + 30
    while states_of_group(int(group)) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = states_of_group(int(group))
    if left:
        os.killpg(int(group), signal.SIGKILL)
    shutil.rmtree(folder)

    assert not left


def test_a_cluster_that_the_user_names_is_taken():
    given = {"URL": "http://127.0.0.1:9200/", "PASSWORD": "secret"}

    assert given_access(given) == Access("http://127.0.0.1:9200", "elastic", "secret")
    assert given_access({}) is None
