"""The engine: an embedded one with a writable home, or a cluster that answers."""

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

from base.errors import ResourceError
from base.extras import extra_remedy
from indexer.settings import ElasticsearchSettings
from stack.doctor.findings import Examined, Finding, Status, check_encryption, failed, tried
from stack.doctor.machine import nearest_folder

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
Nodes = Sequence[dict[str, Any]]


def check_engine(examined: Examined) -> Iterator[Finding]:
    """Check whether the configured engine is usable."""
    settings = examined.settings.indexer
    if settings.engine == "elasticsearch":
        yield from _cluster(settings.elasticsearch)
        return
    yield Finding("version", "ok", f"tantivy {version('tantivy')}", "tantivy")
    there, home = nearest_folder(settings.home), settings.home

    def write() -> str:
        with tempfile.TemporaryFile(prefix=".doctor-", dir=there):
            return "is writable" if there == home else f"does not exist yet; {there} is writable"

    remedy = "give this user write access to it, or set SHRAG_HOME to another folder"
    yield tried("home", write, str(home), remedy)


def _cluster(own: ElasticsearchSettings) -> Iterator[Finding]:
    try:
        import indexer.versions.cluster.connection  # noqa: F401 - check of the import
    except ModuleNotFoundError as error:
        yield failed("client", error, "elasticsearch", extra_remedy("elasticsearch"))
        return
    yield from check_encryption(own.url, secret=own.sends_secret)
    try:
        yield from _answers(own)
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # a field is missing in the answer
        remedy = "check the proxy before it, or set SHRAG_ELASTICSEARCH__URL to the address of Elasticsearch"
        found = f"the answer is not from Elasticsearch ({type(error).__name__}: {error})"
        yield Finding(REACHABLE, "wrong", found, own.url, remedy)


def _answers(own: ElasticsearchSettings) -> Iterator[Finding]:
    """Query every address for the nodes, and the first one that answers for the state of the cluster."""
    from indexer.versions.cluster.connection import connect

    limited = own.model_copy(update={"timeout_s": min(own.timeout_s, LOOK_S)})
    addresses = [limited.model_copy(update={"url": url.strip()}) for url in own.url.split(",")]
    with ThreadPoolExecutor(len(addresses)) as pool:  # in parallel, as unreachable addresses take long
        found = list(zip(addresses, pool.map(_nodes, addresses), strict=True))
    refusals = [answer for _, answer in found if isinstance(answer, ResourceError)]
    answering = [(address, nodes) for address, nodes in found if not isinstance(nodes, ResourceError)]
    if not answering:
        yield failed(REACHABLE, refusals[0], own.url, "see docs/how-to/cluster.md for how to start one")
        return
    address, nodes = answering[0]
    with connect(address) as patient:
        client = patient.options(max_retries=0)
        try:
            health = client.cluster.health(master_timeout=f"{MASTER_S}s")
        except ResourceError as error:  # a cluster without a master
            yield failed(REACHABLE, error, own.url, "start the other nodes; see GET _cluster/health")
            return
        answers = f"cluster {health['cluster_name']!r} answers"
        if refusals:
            answers += f", but some addresses do not: {'; '.join(error.what for error in refusals)}"
            remedy = "start these nodes, or remove their addresses from SHRAG_ELASTICSEARCH__URL"
            yield Finding(REACHABLE, "warning", answers, own.url, remedy)
        else:
            yield Finding(REACHABLE, "ok", answers, own.url)
        yield _version(nodes)
        yield _nori(client, nodes)
    status, remedy = HEALTH.get(health["status"], ("warning", "see GET _cluster/health"))
    yield Finding("health", status, f"{health['status']}, {health['number_of_nodes']} node(s)", remedy=remedy)


def _nodes(address: ElasticsearchSettings) -> Nodes | ResourceError:
    """Return the nodes that one address lists, or the error if it does not answer."""
    from indexer.versions.cluster.connection import connect

    try:
        with connect(address) as client:
            return list(client.options(max_retries=0).nodes.info(metric="plugins")["nodes"].values())
    except ResourceError as error:
        return error


def _version(nodes: Nodes) -> Finding:
    versions = sorted({str(node["version"]) for node in nodes})
    recent = all(tuple(map(int, number.split(".")[:2])) >= OLDEST for number in versions)
    status: Status = "ok" if recent else "wrong"
    found, configured = f"Elasticsearch {', '.join(versions)}", f"{'.'.join(map(str, OLDEST))} or later"
    return Finding("version", status, found, configured, "" if recent else "upgrade the cluster")


def _nori(client: Any, nodes: Nodes) -> Finding:
    """Look for the plugin on every node; if its name is missing, test its function."""
    listed = [
        {part["name"] for part in (*node.get("plugins", ()), *node.get("modules", ()))} for node in nodes
    ]
    without = sorted(node["name"] for node, names in zip(nodes, listed, strict=True) if NORI not in names)
    if not without:
        return Finding("nori", "ok", f"{NORI} on {len(nodes)} node(s)")
    try:
        client.indices.analyze(tokenizer="nori_tokenizer", text="비선형 회귀")
    except ResourceError as error:
        found = f"not listed on {', '.join(without)}, and it cannot be tested"
        if getattr(error.__cause__, "status_code", 0) == FORBIDDEN:
            return Finding("nori", "warning", found, "", "use a key with the privilege cluster:admin/analyze")
        return failed("nori", error, found, f"bin/elasticsearch-plugin install {NORI} on each node")
    return Finding("nori", "ok", "Korean text is analysed")
