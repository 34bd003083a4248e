"""The engine: an embedded one with a writable home, or a cluster that answers."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base.errors import ResourceError
from base.extras import extra_remedy
from indexer.settings import ElasticsearchSettings, EngineName, IndexerSettings
from stack.doctor.checks.disk import nearest_folder
from stack.doctor.findings import Examined, Finding, Status, check_encryption, failed

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
            f"{there} is not writable ({reason})",
            configured=str(home),
            mend="give this user write access to it, or set SHRAG_HOME to another folder",
        )
    else:
        found = "is writable" if there == home else f"does not exist yet; {there} is writable"
        yield Finding("home", "ok", found, configured=str(home))


def _why_not_writable(folder: Path) -> str:
    """Write and remove a file: access rights do not show a read-only file system."""
    if not folder.is_dir():
        return "it is not a folder"
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
        import indexer.versions.cluster.connection  # noqa: F401 - check of the import
    except ModuleNotFoundError as error:
        yield Finding(
            "client",
            "wrong",
            f"the Elasticsearch client is not installed ({error.name} is missing)",
            configured="elasticsearch",
            mend=extra_remedy("elasticsearch"),
        )
        return
    yield from check_encryption(own.url, secret=own.sends_secret)
    try:
        yield from _answers(own)
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # a field is missing in the answer
        mend = "check the proxy before it, or set SHRAG_ELASTICSEARCH__URL to the address of Elasticsearch"
        found = f"the answer is not from Elasticsearch ({type(error).__name__}: {error})"
        yield Finding(REACHABLE, "wrong", found, configured=own.url, mend=mend)


def _answers(own: ElasticsearchSettings) -> Iterator[Finding]:
    """Query every address, and report the answers."""
    from indexer.versions.cluster.connection import connect

    looked_at = own.model_copy(update={"timeout_s": min(own.timeout_s, LOOK_S)})
    asked = [looked_at.model_copy(update={"url": url.strip()}) for url in own.url.split(",")]
    with ThreadPoolExecutor(len(asked)) as pool:  # in parallel, as unreachable addresses take long
        answers = list(pool.map(_nodes, asked))
    refusals = [answer for answer in answers if isinstance(answer, ResourceError)]
    if len(refusals) == len(answers):
        yield failed(REACHABLE, refusals[0], own.url, mend="see docs/how-to/cluster.md for how to start one")
        return
    there = zip(asked, answers, strict=True)
    address, nodes = next(
        (address, nodes) for address, nodes in there if not isinstance(nodes, ResourceError)
    )
    with connect(address) as client:
        try:
            health = client.options(max_retries=0).cluster.health(master_timeout=f"{MASTER_S}s")
        except ResourceError as error:  # a cluster without a master
            mend = "start the other nodes; see GET _cluster/health"
            yield failed(REACHABLE, error, own.url, mend)
            return
        yield _reachable(health["cluster_name"], refusals, own.url)
        yield _version(nodes)
        yield _nori(client, nodes)
    status, mend = HEALTH.get(health["status"], ("warning", "see GET _cluster/health"))
    found = f"{health['status']}, {health['number_of_nodes']} node(s)"
    yield Finding("health", status, found, mend=mend)


def _nodes(address: ElasticsearchSettings) -> list[dict[str, Any]] | ResourceError:
    """Return the nodes that one address lists, or the error if it does not answer."""
    from indexer.versions.cluster.connection import connect

    try:
        with connect(address) as client:
            found = client.options(max_retries=0).nodes.info(metric="plugins")
    except ResourceError as error:
        return error
    return list(found["nodes"].values())


def _reachable(name: str, refusals: Sequence[ResourceError], configured: str) -> Finding:
    if not refusals:
        return Finding(REACHABLE, "ok", f"cluster {name!r} answers", configured=configured)
    found = (
        f"cluster {name!r} answers, but some addresses do not: {'; '.join(error.what for error in refusals)}"
    )
    mend = "start these nodes, or remove their addresses from SHRAG_ELASTICSEARCH__URL"
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
            return Finding(
                "nori", "warning", found, mend="use a key with the privilege cluster:admin/analyze"
            )
        mend = f"bin/elasticsearch-plugin install {NORI} on each node, then restart it"
        return failed("nori", error, found, mend)
    return Finding("nori", "ok", "Korean text is analysed")


ENGINES: dict[EngineName, Callable[[IndexerSettings], Iterator[Finding]]] = {
    "tantivy": _embedded,
    "elasticsearch": _cluster,
}
