"""The server of a test run, and servers that a test may break.

Where the machine lacks what they need the tests are skipped, or failed if `SHRAG_REQUIRE_SERVICES=1`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from indexer.settings import IndexerSettings
from tests.service.elasticsearch.cluster import own_prefix
from tests.service.elasticsearch.server import START_SECONDS, Access, running_server
from tests.service.processes import ServerUnavailable, available, wait_until

# Read before the settings of the user are hidden.
GIVEN = {
    name: value
    for name in ("URL", "USER", "PASSWORD")
    if (value := os.environ.get(f"SHRAG_TEST_ELASTICSEARCH_{name}"))
}


SHARED = pytest.StashKey[tuple[str, ...] | None]()

# The first test of a process waits for a start, and others start servers again.
START = pytest.mark.timeout(START_SECONDS + 300)


# Tests of contracts that take long with a cluster and ask little of it: by day only the embedded engine's.
NIGHTLY = {
    "test_updates_removals_and_rollbacks_keep_the_graph_of_their_records",
    "test_more_hits_come_in_order_than_an_answer_of_a_cluster_holds",
    "test_a_stacked_compound_is_found_written_apart_too",
    "test_a_question_is_answered_by_one_version_though_others_are_published_meanwhile",
    "test_a_version_that_was_rolled_back_from_is_left_by_who_follows",
    "test_threads_and_tasks_follow_at_once",
    "test_an_update_without_an_encoder_leaves_new_passages_without_vectors",
    "test_passages_get_their_vectors_while_they_are_indexed",
    "test_the_nearest_can_be_left_out",
    "test_vectors_are_added_to_an_index_that_has_none",
    "test_what_vectors_alone_find_is_named_and_answers_nothing",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test of this folder the time of a start; leave some for the night."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(START)
            if getattr(item, "originalname", "") in NIGHTLY:
                item.add_marker(pytest.mark.nightly)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let all processes of pytest-xdist use one server, which the process that starts them starts and ends.

    It starts while they look for their tests. That needs the folder to be named in the call; else each
    process starts a server of its own.
    """
    stash = node.config.stash
    if SHARED not in stash:
        stash[SHARED] = None if GIVEN else _start_for(node.config)
    node.workerinput["elasticsearch"] = stash[SHARED]


def _start_for(config: pytest.Config) -> tuple[str, ...] | None:
    with ExitStack() as stack:
        try:
            access = stack.enter_context(running_server(heap="1g", wait=False))
        except ServerUnavailable:
            return None  # the tests tell it
        config.add_cleanup(stack.pop_all().close)
        return astuple(access)


@pytest.fixture(scope="session")
def elasticsearch(request: pytest.FixtureRequest) -> Iterator[Access]:
    """Return the server that all tests of a run share; each keeps to indices of its own."""
    if "URL" in GIVEN:
        yield Access(GIVEN["URL"].rstrip("/"), GIVEN.get("USER", "elastic"), GIVEN.get("PASSWORD", ""))
        return
    if shared := getattr(request.config, "workerinput", {}).get("elasticsearch"):
        access = Access(*shared)
        wait_until(access.complaint, START_SECONDS)
        yield access
        return
    with available(), running_server(heap="1g") as access:
        yield access


@pytest.fixture(scope="module")
def settings_for(elasticsearch: Access) -> Iterator[Callable[..., IndexerSettings]]:
    """Return a function that makes settings for a home, with a prefix of the module's own."""
    with own_prefix(elasticsearch) as make:
        yield make
