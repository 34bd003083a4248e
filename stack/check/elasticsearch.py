"""Rules about the nodes of Elasticsearch and their file of settings."""

import re
from collections.abc import Iterator

from ruamel.yaml import YAML

from stack.check.reading import VARIABLE, Stack, environment_of, is_model_server, without_comments

SETTING = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")  # what the image takes for a setting of Elasticsearch

# Read by the image's entry point, the Java launcher, or our elasticsearch.yml and scripts.
KNOWN_VARIABLES = frozenset({"ELASTIC_PASSWORD", "ES_JAVA_OPTS", "NODE_NAME"})
# Elasticsearch does not start with a setting that it does not know. With these 9.2 started, except the geoip
# one, whose module the tests' distribution lacks.
KNOWN_SETTINGS = frozenset(
    {
        "bootstrap.memory_lock",
        "cluster.initial_master_nodes",
        "cluster.name",
        "discovery.seed_hosts",
        "ingest.geoip.downloader.enabled",
        "network.host",
        "node.name",
        "path.repo",
        "xpack.ml.enabled",
        "xpack.security.autoconfiguration.enabled",
        "xpack.security.enabled",
        "xpack.security.enrollment.enabled",
        *(
            f"xpack.security.{layer}.ssl.{name}"
            for layer in ("http", "transport")
            for name in ("enabled", "key", "certificate", "certificate_authorities")
        ),
        "xpack.security.transport.ssl.verification_mode",
    }
)


def settings(stack: Stack) -> Iterator[str]:
    """Find what Elasticsearch would not know, or not start with."""
    nodes = {
        name: environment_of(service)
        for name, service in stack.services.items()
        if not is_model_server(service)
    }
    for name, environment in nodes.items():
        for key in environment:
            known = KNOWN_SETTINGS if SETTING.fullmatch(key) else KNOWN_VARIABLES
            if key not in known:
                yield f"{name}: the variable {key} is not known to this check"
    for path in sorted((stack.folder / "docker").glob("*/elasticsearch.yml")):
        written = YAML(typ="safe").load(path.read_text("utf-8")) or {}
        for key in written:
            if key not in KNOWN_SETTINGS:
                yield f"{stack.shown(path)}: the setting {key} is not known to this check"
        if written.get("xpack.security.enabled") is not True:
            yield f"{stack.shown(path)}: security is not on; xpack.security.enabled: true"
        given = {key for environment in nodes.values() for key in environment}
        for found in VARIABLE.finditer(without_comments(path.read_text("utf-8"))):
            variable = found["braced"] or found["bare"]
            if variable not in given:
                yield f"{stack.shown(path)}: no service sets {variable}"
