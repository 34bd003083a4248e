"""The engine: an embedded one whose home can be written, or a cluster that answers."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.errors import EngineRefused, EngineUnreachable, InvalidCall
from indexer.settings import EngineName, IndexerSettings
from stack.doctor.checks.disk import nearest_folder
from stack.doctor.findings import Examined, Finding, Status

if TYPE_CHECKING:
    from indexer.cluster.connection import Cluster

NORI = "analysis-nori"
OLDEST = (9, 2)  # the client promises newer servers, not older
HEALTH: dict[str, tuple[Status, str]] = {
    "green": ("ok", ""),
    "yellow": ("warning", "copies of shards have no node: start another, or SHRAG_ELASTICSEARCH__REPLICAS=0"),
    "red": ("wrong", "shards are missing: see GET _cluster/allocation/explain, or restore a snapshot"),
}


def check_engine(examined: Examined) -> Iterator[Finding]:
    """Tell whether the engine of the settings can be used."""
    settings = examined.settings.indexer
    yield from ENGINES[settings.engine](settings)


def _embedded(settings: IndexerSettings) -> Iterator[Finding]:
    yield Finding("version", "ok", f"tantivy {version('tantivy')}", configured="tantivy")
    home = settings.home
    there = nearest_folder(home)
    reason = _why_not_writable(there)
    if reason:
        yield Finding(
            "home",
            "wrong",
            f"nothing can be written in {there} ({reason})",
            configured=str(home),
            mend="give this user the right to write there, or set SHRAG_HOME to another folder",
        )
    else:
        found = "can be written" if there == home else f"not there yet; {there} can be written"
        yield Finding("home", "ok", found, configured=str(home))


def _why_not_writable(folder: Path) -> str:
    """Write and remove a file: access rights alone do not tell of a file system that is read-only."""
    if not folder.is_dir():
        return "it is no folder"
    try:
        handle, name = tempfile.mkstemp(prefix=".doctor-", dir=folder)
    except OSError as error:
        return error.strerror or type(error).__name__
    os.close(handle)
    Path(name).unlink()
    return ""


def _cluster(settings: IndexerSettings) -> Iterator[Finding]:
    configured = settings.elasticsearch.url
    try:
        from indexer.cluster.connection import Cluster
    except ModuleNotFoundError as error:
        yield Finding(
            "client",
            "wrong",
            f"the client of Elasticsearch is not installed ({error.name} is missing)",
            configured="elasticsearch",
            mend="make install-elasticsearch",
        )
        return
    try:
        with Cluster(settings.elasticsearch) as cluster:
            yield from _of_a_cluster(cluster, configured)
    except (EngineUnreachable, EngineRefused, InvalidCall) as error:
        yield Finding(
            "reachable",
            "wrong",
            str(error),
            configured=configured,
            mend="start the cluster (docs/cluster.md), or set SHRAG_ELASTICSEARCH__URL and its key",
        )


def _of_a_cluster(cluster: "Cluster", configured: str) -> Iterator[Finding]:
    info = cluster.run(cluster.client.nodes.info(metric="plugins"))
    nodes: list[dict[str, Any]] = list(info["nodes"].values())
    yield Finding("reachable", "ok", f"cluster {info['cluster_name']!r} answers", configured=configured)
    versions = sorted({str(node["version"]) for node in nodes})
    new_enough = all(tuple(map(int, number.split(".")[:2])) >= OLDEST for number in versions)
    yield Finding(
        "version",
        "ok" if new_enough else "wrong",
        f"Elasticsearch {', '.join(versions)}",
        configured=f"{'.'.join(map(str, OLDEST))} or later",
        mend="" if new_enough else "upgrade the cluster",
    )
    yield _nori(cluster, nodes)
    health = cluster.run(cluster.client.cluster.health())
    status, mend = HEALTH.get(health["status"], ("warning", "see GET _cluster/health"))
    found = f"{health['status']}, {health['number_of_nodes']} node(s)"
    yield Finding("health", status, found, mend=mend)


def _nori(cluster: "Cluster", nodes: Sequence[dict[str, Any]]) -> Finding:
    """Look for the plugin on every node; where it goes by another name, try what it does."""
    without = sorted(
        node["name"]
        for node in nodes
        if NORI not in {part["name"] for part in (*node.get("plugins", ()), *node.get("modules", ()))}
    )
    if not without:
        return Finding("nori", "ok", f"{NORI} on {len(nodes)} node(s)")
    try:
        cluster.run(cluster.client.indices.analyze(tokenizer="nori_tokenizer", text="비선형 회귀"))
    except EngineRefused as error:
        return Finding(
            "nori",
            "wrong",
            f"not on {', '.join(without)}: {error}",
            mend=f"bin/elasticsearch-plugin install {NORI} on each node, then restart it",
        )
    return Finding("nori", "ok", "Korean text is analysed")


ENGINES: dict[EngineName, Callable[[IndexerSettings], Iterator[Finding]]] = {
    "tantivy": _embedded,
    "elasticsearch": _cluster,
}
