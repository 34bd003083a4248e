"""The server of a test run, and servers that a test may break.

Where the machine lacks what they need the tests are skipped, or failed if `SHRAG_REQUIRE_SERVICES=1`.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any, NoReturn

import httpx
import pytest

from tests.service.elasticsearch.server import (
    START_SECONDS,
    Access,
    Server,
    running_cluster,
    running_server,
    wait_for,
)
from tests.service.errors import ServerUnavailable

# Both are read before the settings of the user are hidden.
REQUIRED = os.environ.get("SHRAG_REQUIRE_SERVICES") == "1"
GIVEN = {
    name: value
    for name in ("URL", "USER", "PASSWORD")
    if (value := os.environ.get(f"SHRAG_TEST_ELASTICSEARCH_{name}"))
}


SHARED = pytest.StashKey[tuple[str, ...] | None]()

# The first test of a process waits for a start, and others start servers again.
START = pytest.mark.timeout(START_SECONDS + 300)


# Tests that take long with a cluster and ask little of it: by day only the embedded engine's.
NIGHTLY = {
    "test_citations.py": {"test_updates_removals_and_rollbacks_keep_the_graph_of_their_records"},
    "test_contract.py": {"test_more_hits_come_in_order_than_an_answer_of_a_cluster_holds"},
    "test_dictionary.py": {"test_an_index_is_built_updated_and_opened_with_the_dictionary"},
    "test_explanation.py": {"test_a_stacked_compound_is_found_written_apart_too"},
    "test_following.py": {
        "test_a_question_is_answered_by_one_version_though_others_are_published_meanwhile",
        "test_a_version_of_another_analyzer_is_followed",
        "test_an_index_that_stays_answers_from_its_version_until_it_is_closed",
        "test_threads_and_tasks_follow_at_once",
        "test_a_version_that_was_rolled_back_from_is_left_by_who_follows",
        "test_what_is_rolled_back_from_while_it_is_read_is_never_gone_back_to",
    },
    "test_ingest.py": {
        "test_an_update_indexes_only_changed_records",
        "test_of_two_papers_that_claim_a_passage_id_the_second_is_a_dead_letter",
        "test_the_last_versions_are_kept_with_their_glossaries",
    },
    "test_vector_contract.py": {
        "test_an_update_without_an_encoder_leaves_new_passages_without_vectors",
        "test_passages_get_their_vectors_while_they_are_indexed",
        "test_the_nearest_can_be_left_out",
        "test_vectors_are_added_to_an_index_that_has_none",
        "test_what_vectors_alone_find_is_named_and_answers_nothing",
    },
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test of this folder the time of a start; leave some for the night."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(START)
            if getattr(item, "originalname", "") in NIGHTLY.get(item.path.name, ()):
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
            server = stack.enter_context(running_server(heap="1g", wait=False))
        except ServerUnavailable:
            return None  # the tests tell it
        config.add_cleanup(stack.pop_all().close)
        return astuple(server.access)


@pytest.fixture(scope="session")
def elasticsearch(request: pytest.FixtureRequest) -> Iterator[Access]:
    """Return the server that all tests of a run share; each keeps to indices of its own."""
    if access := given_access(GIVEN):
        yield access
        return
    if shared := getattr(request.config, "workerinput", {}).get("elasticsearch"):
        wait_for(access := Access(*shared))
        yield access
        return
    with _available(), running_server(heap="1g") as server:
        yield server.access


@pytest.fixture
def own_server(_server_of_process: Server) -> Server:
    """Return a server that the test may kill and pause; running and empty when the test begins."""
    renew([_server_of_process])
    return _server_of_process


@pytest.fixture
def cluster(_cluster_of_module: tuple[Server, ...]) -> tuple[Server, ...]:
    """Return three servers that form a cluster; running and empty when the test begins."""
    renew(_cluster_of_module)
    return _cluster_of_module


@pytest.fixture(scope="session")
def snapshot_folder() -> Iterator[Path]:
    """Return where `own_server` may write snapshots to."""
    path = Path(tempfile.mkdtemp(prefix="shrag-snapshots-"))
    path.chmod(0o777)  # the server runs as another user
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def _server_of_process(snapshot_folder: Path) -> Iterator[Server]:
    _skip_where_given()
    with _available(), running_server(settings={"path.repo": str(snapshot_folder)}) as server:
        yield server


@pytest.fixture(scope="module")
def _cluster_of_module() -> Iterator[tuple[Server, ...]]:
    _skip_where_given()
    with _available(), running_cluster(3) as servers:
        yield servers


def given_access(given: Mapping[str, str]) -> Access | None:
    """Return the cluster that the user names, if any."""
    if "URL" not in given:
        return None
    return Access(given["URL"].rstrip("/"), given.get("USER", "elastic"), given.get("PASSWORD", ""))


def renew(servers: Sequence[Server]) -> None:
    """Let servers run again whatever was done to them, without indices and settings that a test made."""
    for server in servers:
        server.resume()
        if not server.running:
            server.launch()
    for server in servers:
        server.wait_until_ready(len(servers))
    with httpx.Client(
        base_url=servers[0].access.url, auth=servers[0].access.basic_auth, trust_env=False, timeout=120
    ) as client:
        unset = {"persistent": {"*": None}, "transient": {"*": None}}
        client.put("/_cluster/settings", json=unset).raise_for_status()
        indices = client.get("/_cat/indices?format=json&expand_wildcards=open").raise_for_status().json()
        for name in [index["index"] for index in indices if not index["index"].startswith(".")]:
            client.delete(f"/{name}").raise_for_status()


def _skip_where_given() -> None:
    if GIVEN:
        pytest.skip(
            "SHRAG_TEST_ELASTICSEARCH_URL is set, and the tests do not break a server that is not theirs"
        )


@contextmanager
def _available() -> Iterator[None]:
    try:
        yield
    except ServerUnavailable as missing:
        _without_server(str(missing))


def _without_server(reason: str) -> NoReturn:
    if REQUIRED:
        pytest.fail(f"{reason} (SHRAG_REQUIRE_SERVICES=1)")
    pytest.skip(reason)
