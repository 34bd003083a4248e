"""The engine: an embedded one whose home can be written, or a cluster that answers."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base.errors import ResourceError
from indexer.settings import ElasticsearchSettings, EngineName, IndexerSettings
from stack.doctor.checks.disk import nearest_folder
from stack.doctor.encryption import check_encryption
from stack.doctor.findings import Examined, Finding, Status, failed

if TYPE_CHECKING:
    from indexer.versions.cluster.connection import Cluster

NORI = "analysis-nori"
REACHABLE = "reachable"
LOOK_S, MASTER_S = 10, 4  # for an answer that takes no work, and for a cluster to name its master
FORBIDDEN = 403
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
    own = settings.elasticsearch
    try:
        import indexer.versions.cluster.connection  # noqa: F401 - whether it can be
    except ModuleNotFoundError as error:
        yield Finding(
            "client",
            "wrong",
            f"the client of Elasticsearch is not installed ({error.name} is missing)",
            configured="elasticsearch",
            mend="make install-elasticsearch",
        )
        return
    yield from check_encryption(own.url, secret=own.sends_secret)
    try:
        yield from _answers(own)
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # what it answers lacks a part
        mend = "look at the proxy before it, or set SHRAG_ELASTICSEARCH__URL to where Elasticsearch is"
        found = f"it does not answer as Elasticsearch does ({type(error).__name__}: {error})"
        yield Finding(REACHABLE, "wrong", found, configured=own.url, mend=mend)


def _answers(own: ElasticsearchSettings) -> Iterator[Finding]:
    """Ask every address, and tell what is read of the answers."""
    from indexer.versions.cluster.connection import Cluster

    looked_at = own.model_copy(update={"timeout_s": min(own.timeout_s, LOOK_S)})
    asked = [looked_at.model_copy(update={"url": url.strip()}) for url in own.url.split(",")]
    with ThreadPoolExecutor(len(asked)) as pool:  # each address, as those that are down take long
        answers = list(pool.map(_nodes, asked))
    refusals = [answer for answer in answers if isinstance(answer, ResourceError)]
    if len(refusals) == len(answers):
        yield failed(REACHABLE, refusals[0], own.url, mend="docs/how-to/cluster.md tells how to start one")
        return
    there = zip(asked, answers, strict=True)
    address, nodes = next(
        (address, nodes) for address, nodes in there if not isinstance(nodes, ResourceError)
    )
    with Cluster(address) as cluster:
        once = cluster.client.options(max_retries=0)
        try:
            health = cluster.run(once.cluster.health(master_timeout=f"{MASTER_S}s"))
        except ResourceError as error:  # a cluster without a master
            mend = "start the other nodes: GET _cluster/health tells of them"
            yield failed(REACHABLE, error, own.url, mend)
            return
        yield _reachable(health["cluster_name"], refusals, own.url)
        yield _version(nodes)
        yield _nori(cluster, nodes)
    status, mend = HEALTH.get(health["status"], ("warning", "see GET _cluster/health"))
    found = f"{health['status']}, {health['number_of_nodes']} node(s)"
    yield Finding("health", status, found, mend=mend)


def _nodes(address: ElasticsearchSettings) -> list[dict[str, Any]] | ResourceError:
    """Ask at one address what nodes there are; return the error instead where it does not answer."""
    from indexer.versions.cluster.connection import Cluster

    try:
        with Cluster(address) as cluster:
            found = cluster.run(cluster.client.options(max_retries=0).nodes.info(metric="plugins"))
    except ResourceError as error:
        return error
    return list(found["nodes"].values())


def _reachable(name: str, refusals: Sequence[ResourceError], configured: str) -> Finding:
    if not refusals:
        return Finding(REACHABLE, "ok", f"cluster {name!r} answers", configured=configured)
    found = (
        f"cluster {name!r} answers, but not at every address: {'; '.join(error.what for error in refusals)}"
    )
    mend = "start these nodes, or take their addresses out of SHRAG_ELASTICSEARCH__URL"
    return Finding(REACHABLE, "warning", found, configured, mend)


def _version(nodes: Sequence[dict[str, Any]]) -> Finding:
    versions = sorted({str(node["version"]) for node in nodes})
    new_enough = all(tuple(map(int, number.split(".")[:2])) >= OLDEST for number in versions)
    return Finding(
        "version",
        "ok" if new_enough else "wrong",
        f"Elasticsearch {', '.join(versions)}",
        configured=f"{'.'.join(map(str, OLDEST))} or later",
        mend="" if new_enough else "upgrade the cluster",
    )


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
        once = cluster.client.options(max_retries=0)
        cluster.run(once.indices.analyze(tokenizer="nori_tokenizer", text="비선형 회귀"))
    except ResourceError as error:
        found = f"not by its name on {', '.join(without)}, and it cannot be tried"
        if getattr(error.__cause__, "status_code", 0) == FORBIDDEN:
            return Finding(
                "nori", "warning", found, mend="ask with a key that has the right cluster:admin/analyze"
            )
        mend = f"bin/elasticsearch-plugin install {NORI} on each node, then restart it"
        return failed("nori", error, found, mend)
    return Finding("nori", "ok", "Korean text is analysed")


ENGINES: dict[EngineName, Callable[[IndexerSettings], Iterator[Finding]]] = {
    "tantivy": _embedded,
    "elasticsearch": _cluster,
}
