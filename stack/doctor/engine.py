"""The engine: an embedded one with a writable home, or a cluster that answers."""

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base.errors import ResourceError
from base.extras import extra_remedy
from indexer.settings import ElasticsearchSettings
from stack.doctor.findings import Examined, Finding, Status, check_encryption, failed
from stack.doctor.machine import nearest_folder

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

NORI = "analysis-nori"
REACHABLE = "reachable"
LOOK_S, MASTER_S = 10, 4  # time limits of a simple answer, and of a cluster's answer about its master
FORBIDDEN = 403
OLDEST = (9, 2)  # the client supports newer servers, not older ones
HEALTH: dict[str, tuple[Status, str]] = {
    "green": ("ok", ""),
    "yellow": ("warning", "copies of shards have no node: start another, or SHRAG_ELASTICSEARCH__REPLICAS=0"),
    "red": ("wrong", "shards are missing: see GET _cluster/allocation/explain, or restore a snapshot"),
}


def check_engine(examined: Examined) -> Iterator[Finding]:
    """Check whether the configured engine is usable."""
    settings = examined.settings.indexer
    if settings.engine == "tantivy":
        return _embedded(settings.home)
    return _cluster(settings.elasticsearch)


def _embedded(home: Path) -> Iterator[Finding]:
    yield Finding("version", "ok", f"tantivy {version('tantivy')}", "tantivy")
    there = nearest_folder(home)
    try:  # access rights do not show a read-only file system
        with tempfile.TemporaryFile(prefix=".doctor-", dir=there):
            pass
    except OSError as error:
        remedy = "give this user write access to it, or set SHRAG_HOME to another folder"
        yield Finding("home", "wrong", f"{there} is not writable ({error.strerror})", str(home), remedy)
        return
    found = "is writable" if there == home else f"does not exist yet; {there} is writable"
    yield Finding("home", "ok", found, str(home))


def _cluster(own: ElasticsearchSettings) -> Iterator[Finding]:
    try:
        import indexer.versions.cluster.connection  # noqa: F401 - check of the import
    except ModuleNotFoundError as error:
        found = f"the Elasticsearch client is not installed ({error.name} is missing)"
        yield Finding("client", "wrong", found, "elasticsearch", extra_remedy("elasticsearch"))
        return
    yield from check_encryption(own.url, secret=own.sends_secret)
    try:
        yield from _answers(own)
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # a field is missing in the answer
        remedy = "check the proxy before it, or set SHRAG_ELASTICSEARCH__URL to the address of Elasticsearch"
        found = f"the answer is not from Elasticsearch ({type(error).__name__}: {error})"
        yield Finding(REACHABLE, "wrong", found, own.url, remedy)


def _answers(own: ElasticsearchSettings) -> Iterator[Finding]:
    """Query every address, and report the answers."""
    from indexer.versions.cluster.connection import connect

    limited = own.model_copy(update={"timeout_s": min(own.timeout_s, LOOK_S)})
    asked = [limited.model_copy(update={"url": url.strip()}) for url in own.url.split(",")]
    with ThreadPoolExecutor(len(asked)) as pool:  # in parallel, as unreachable addresses take long
        found = list(zip(asked, pool.map(_nodes, asked), strict=True))
    refusals = [answer for _, answer in found if isinstance(answer, ResourceError)]
    answering = [(address, nodes) for address, nodes in found if not isinstance(nodes, ResourceError)]
    if not answering:
        yield failed(REACHABLE, refusals[0], own.url, "see docs/how-to/cluster.md for how to start one")
        return
    address, nodes = answering[0]
    with connect(address) as client:
        try:
            health = client.options(max_retries=0).cluster.health(master_timeout=f"{MASTER_S}s")
        except ResourceError as error:  # a cluster without a master
            yield failed(REACHABLE, error, own.url, "start the other nodes; see GET _cluster/health")
            return
        yield _reachable(health["cluster_name"], refusals, own.url)
        yield _version(nodes)
        yield _nori(client, nodes)
    status, remedy = HEALTH.get(health["status"], ("warning", "see GET _cluster/health"))
    yield Finding("health", status, f"{health['status']}, {health['number_of_nodes']} node(s)", remedy=remedy)


def _nodes(address: ElasticsearchSettings) -> list[dict[str, Any]] | ResourceError:
    """Return the nodes that one address lists, or the error if it does not answer."""
    from indexer.versions.cluster.connection import connect

    try:
        with connect(address) as client:
            return list(client.options(max_retries=0).nodes.info(metric="plugins")["nodes"].values())
    except ResourceError as error:
        return error


def _reachable(name: str, refusals: Sequence[ResourceError], configured: str) -> Finding:
    found = f"cluster {name!r} answers"
    if not refusals:
        return Finding(REACHABLE, "ok", found, configured)
    found += f", but some addresses do not: {'; '.join(error.what for error in refusals)}"
    remedy = "start these nodes, or remove their addresses from SHRAG_ELASTICSEARCH__URL"
    return Finding(REACHABLE, "warning", found, configured, remedy)


def _version(nodes: Sequence[dict[str, Any]]) -> Finding:
    versions = sorted({str(node["version"]) for node in nodes})
    found, configured = f"Elasticsearch {', '.join(versions)}", f"{'.'.join(map(str, OLDEST))} or later"
    if all(tuple(map(int, number.split(".")[:2])) >= OLDEST for number in versions):
        return Finding("version", "ok", found, configured)
    return Finding("version", "wrong", found, configured, "upgrade the cluster")


def _nori(client: "Elasticsearch", nodes: Sequence[dict[str, Any]]) -> Finding:
    """Look for the plugin on every node; if its name is missing, test its function."""
    without = sorted(
        node["name"]
        for node in nodes
        if NORI not in {part["name"] for part in (*node.get("plugins", ()), *node.get("modules", ()))}
    )
    if not without:
        return Finding("nori", "ok", f"{NORI} on {len(nodes)} node(s)")
    try:
        client.options(max_retries=0).indices.analyze(tokenizer="nori_tokenizer", text="비선형 회귀")
    except ResourceError as error:
        found = f"not listed on {', '.join(without)}, and it cannot be tested"
        if getattr(error.__cause__, "status_code", 0) == FORBIDDEN:
            return Finding("nori", "warning", found, "", "use a key with the privilege cluster:admin/analyze")
        remedy = f"bin/elasticsearch-plugin install {NORI} on each node, then restart it"
        return failed("nori", error, found, remedy)
    return Finding("nori", "ok", "Korean text is analysed")
