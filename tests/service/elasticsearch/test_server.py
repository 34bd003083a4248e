"""The server does what the tests of the project ask of it, and goes when they go."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from elasticsearch import ConnectionTimeout, Elasticsearch

from tests.service.elasticsearch.conftest import given_access, renew
from tests.service.elasticsearch.server import Access, Node, settings_of
from tests.service.processes import free_ports, states_of_group

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


def connect(access, **options):
    return Elasticsearch(access.url, basic_auth=access.basic_auth, **options)


def test_an_api_key_can_be_made_and_used(elasticsearch):
    with connect(elasticsearch) as client:
        key = client.security.create_api_key(name="test")

    with Elasticsearch(elasticsearch.url, api_key=key["encoded"]) as client:
        assert client.security.authenticate()["authentication_type"] == "api_key"


def test_the_nearest_vector_is_found(elasticsearch):
    with connect(elasticsearch) as client:
        vector = {"type": "dense_vector", "dims": 2, "similarity": "cosine"}
        client.indices.create(index="vectors", mappings={"properties": {"vector": vector}})
        client.index(index="vectors", id="east", document={"vector": [1, 0]})
        client.index(index="vectors", id="north", document={"vector": [0, 1]}, refresh=True)

        nearest = {"field": "vector", "query_vector": [0.9, 0.1], "k": 1}
        hits = client.search(index="vectors", knn=nearest)["hits"]["hits"]
        client.indices.delete(index="vectors")

    assert [hit["_id"] for hit in hits] == ["east"]


@pytest.mark.slow
def test_what_was_acknowledged_outlives_a_kill(own_server):
    with connect(own_server.access) as client:
        for number in range(20):
            client.index(index="papers", id=str(number), document={"number": number})

        own_server.kill()
        own_server.restart()

        client.indices.refresh(index="papers")
        assert client.count(index="papers")["count"] == 20


@pytest.mark.slow
def test_a_paused_server_does_not_answer_until_it_is_resumed(own_server):
    with connect(own_server.access, request_timeout=1, max_retries=0) as client:
        own_server.pause()
        with pytest.raises(ConnectionTimeout):
            client.cluster.health()

        own_server.resume()
        assert client.options(request_timeout=30).cluster.health()["number_of_nodes"] == 1


@pytest.mark.slow
def test_what_a_test_did_to_a_server_is_undone_for_the_next(own_server):
    recovery = "indices.recovery.max_bytes_per_sec"
    with connect(own_server.access) as client:
        client.indices.create(index="papers")
        client.cluster.put_settings(persistent={recovery: "1mb"})
        own_server.pause()

        renew([own_server])

        assert not client.indices.exists(index="papers")
        assert client.cluster.get_settings(flat_settings=True)["persistent"] == {}


@pytest.mark.slow
def test_three_nodes_form_a_green_cluster(cluster):
    with connect(cluster[0].access) as client:
        client.indices.create(index="papers", settings={"number_of_replicas": 2})

        health = client.cluster.health(wait_for_status="green", timeout="60s")

        assert (health["status"], health["number_of_nodes"]) == ("green", 3)
        assert health["timed_out"] is False


@pytest.mark.slow
def test_a_cluster_survives_the_loss_of_its_first_node(cluster):
    first, second, _ = cluster
    with connect(second.access) as client:
        client.indices.create(index="papers", settings={"number_of_replicas": 2})
        client.cluster.health(wait_for_status="green", timeout="60s")
        client.index(index="papers", id="1", document={})

        first.kill()

        assert client.get(index="papers", id="1")["found"]


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


def test_ports_are_free_and_different():
    assert len(set(free_ports(6))) == 6


def test_a_single_node_looks_for_no_other():
    node = Node("node-1", 20001, 20002, Path("/run/node-1"))

    settings = settings_of(node, [node], {"xpack.ml.enabled": True})

    assert settings["discovery.type"] == "single-node"
    assert settings["path.data"] == "/run/node-1/data"
    assert settings["xpack.ml.enabled"] is True


def test_nodes_of_a_cluster_know_each_other():
    nodes = [Node(f"node-{n}", 20000 + n, 21000 + n, Path(f"/run/node-{n}")) for n in (1, 2)]

    settings = settings_of(nodes[1], nodes, {})

    assert "discovery.type" not in settings
    assert settings["discovery.seed_hosts"] == ["127.0.0.1:21001", "127.0.0.1:21002"]
    assert settings["cluster.initial_master_nodes"] == ["node-1", "node-2"]


def test_a_cluster_that_the_user_names_is_taken():
    given = {"URL": "http://127.0.0.1:9200/", "PASSWORD": "secret"}

    assert given_access(given) == Access("http://127.0.0.1:9200", "elastic", "secret")
    assert given_access({}) is None
