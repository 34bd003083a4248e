"""Check docker-compose.yml without a Docker engine: `python -m stack.check [FOLDER]`.

What is wrong is told one a line, and the exit code is then 1. The form is the Compose Specification's own
JSON schema (as the package check-jsonschema carries it); the rest is what this project asks of its stack. Not
told: whether images can be fetched and built, and whether what is in them starts.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

COMPOSE, EXAMPLE, DOCUMENTED = "docker-compose.yml", ".env.example", "docs/cluster.md"
DOCKERFILE = "Dockerfile"
SCHEMA = "builtin_schemas/vendor/compose-spec.json"

VARIABLE = re.compile(r"(?<!\$)\$(?:\{(?P<braced>\w+)(?P<operator>:?[-?+])?(?P<rest>[^}]*)\}|(?P<bare>\w+))")
SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|API_KEY|PRIVATE")
EXAMPLE_LINE = re.compile(r"(?P<off># )?(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>.*)")
LOOPBACK = ("127.0.0.1:", "[::1]:")
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


@dataclass(frozen=True, slots=True)
class Stack:
    """The files of a stack, read."""

    folder: Path
    text: str
    compose: dict[str, Any]
    example: str
    documented: str

    @property
    def services(self) -> dict[str, dict[str, Any]]:
        """Return the services by name."""
        services: dict[str, dict[str, Any]] = self.compose["services"]
        return services


def read_stack(folder: Path) -> Stack:
    """Read the files; raises OSError, or YAMLError for what is no YAML or names a key twice."""
    text = (folder / COMPOSE).read_text("utf-8")
    return Stack(
        folder=folder,
        text=text,
        compose=YAML(typ="safe").load(text),
        example=(folder / EXAMPLE).read_text("utf-8"),
        documented=(folder / DOCUMENTED).read_text("utf-8"),
    )


def form(stack: Stack) -> Iterator[str]:
    """Compare with the schema of the Compose Specification."""
    schema = json.loads(files("check_jsonschema").joinpath(SCHEMA).read_text("utf-8"))
    errors = list(Draft202012Validator(schema).iter_errors(stack.compose))
    places = {tuple(error.absolute_path) for error in errors}
    for error in errors:
        place = tuple(error.absolute_path)
        # A fault within makes all beside it count as not evaluated; the fault itself is told.
        within = any(len(other) > len(place) and other[: len(place)] == place for other in places)
        if error.validator != "unevaluatedProperties" or not within:
            yield f"{'.'.join(map(str, place)) or 'the file'}: {error.message}"


def variables(stack: Stack) -> Iterator[str]:
    """Find variables that nobody is told of, and secrets that could be left out."""
    told = {
        found["name"]: found for found in map(EXAMPLE_LINE.fullmatch, stack.example.splitlines()) if found
    }
    used: set[str] = set()
    for found in VARIABLE.finditer(_without_comments(stack.text)):
        name, operator, default = found["braced"] or found["bare"], found["operator"], found["rest"]
        used.add(name)
        if name not in told:
            yield f"{name}: is not in {EXAMPLE}"
        elif operator in {":-", "-"} and told[name]["value"] != default:
            yield f"{name}: its default is {default!r}, and {EXAMPLE} says {told[name]['value']!r}"
        if operator is None:
            yield f"{name}: has neither a default nor a message for where it is not set"
        if SECRET.search(name) and operator != ":?":
            yield f"{name}: is a secret, and only ${{{name}:?…}} makes it required"
    for name, line in told.items():
        if name not in used:
            yield f"{name}: is in {EXAMPLE}, and {COMPOSE} does not use it"
        if SECRET.search(name) and line["value"]:
            yield f"{name}: is a secret, and {EXAMPLE} gives it a value"
    for name in sorted(used):
        if f"`{name}`" not in stack.documented:
            yield f"{name}: is not in {DOCUMENTED}"


def images(stack: Stack) -> Iterator[str]:
    """Find images without a fixed tag, and builds whose files are not there."""
    for name, service in stack.services.items():
        if "image" in service and not _pinned(service["image"]):
            yield f"{name}: the image {service['image']} has no fixed tag"
        if "build" not in service:
            if "image" not in service:
                yield f"{name}: has neither an image nor a build"
            continue
        build = service["build"] if isinstance(service["build"], dict) else {"context": service["build"]}
        context = stack.folder / build.get("context", ".")
        dockerfile = context / build.get("dockerfile", DOCKERFILE)
        if not dockerfile.is_file():
            yield f"{name}: is built from {_shown(stack, dockerfile)}, which is not there"
            continue
        yield from (f"{name}: {fault}" for fault in _of_dockerfile(stack, context, dockerfile))
        tag = service.get("image", "").rpartition(":")[2]
        base = re.search(r"^FROM\s+\S+:(\S+)", dockerfile.read_text("utf-8"), re.MULTILINE)
        if tag and base and tag != base[1]:
            yield f"{name}: the image is tagged {tag}, and built from {base[1]}"


def _of_dockerfile(stack: Stack, context: Path, dockerfile: Path) -> Iterator[str]:
    for line in dockerfile.read_text("utf-8").replace("\\\n", " ").splitlines():
        instruction, *words = line.split() or [""]
        if instruction == "FROM" and not _pinned(words[0]):
            yield f"{_shown(stack, dockerfile)} begins from {words[0]}, which has no fixed tag"
        if instruction in {"COPY", "ADD"} and not any(word.startswith("--from") for word in words):
            sources = [word for word in words if not word.startswith("--")][:-1]
            for source in sources:
                if not (context / source).exists():
                    yield f"{_shown(stack, dockerfile)} copies {source}, which is not there"


def references(stack: Stack) -> Iterator[str]:
    """Find services, volumes, networks, secrets and folders that are named and not there."""
    for name, service in stack.services.items():
        for other in service.get("depends_on", ()):
            if other not in stack.services:
                yield f"{name}: depends on {other}, which is no service"
        for kind in ("networks", "secrets", "configs"):
            for one in service.get(kind) or ():
                label = one["source"] if isinstance(one, dict) else one
                if label not in (stack.compose.get(kind) or {}) and label != "default":
                    yield f"{name}: {label} is not declared under {kind}"
        for source, is_path in map(_mounted, service.get("volumes", ())):
            if is_path and not source.startswith("$") and not (stack.folder / source).exists():
                yield f"{name}: mounts {source}, which is not there"
            if source and not is_path and source not in (stack.compose.get("volumes") or {}):
                yield f"{name}: {source} is not declared under volumes"
    mounted = {
        source for one in stack.services.values() for source, _ in map(_mounted, one.get("volumes", ()))
    }
    for volume in stack.compose.get("volumes") or ():
        if volume not in mounted:
            yield f"{volume}: is declared under volumes, and no service mounts it"


def exposure(stack: Stack) -> Iterator[str]:
    """Find ports that other machines reach, and containers that may do more than they need."""
    for name, service in stack.services.items():
        for port in service.get("ports", ()):
            here = port.get("host_ip", "") + ":" if isinstance(port, dict) else str(port)
            if not here.startswith(LOOPBACK):
                yield f"{name}: the port {port} is not bound to 127.0.0.1"
        if service.get("network_mode") == "host" or service.get("privileged"):
            yield f"{name}: is not kept apart from the machine (network_mode host, or privileged)"
        if "ALL" not in service.get("cap_drop", ()):
            yield f"{name}: keeps capabilities; cap_drop: [ALL]"
        if not any(str(one).startswith("no-new-privileges") for one in service.get("security_opt", ())):
            yield f"{name}: may gain privileges; security_opt: [no-new-privileges:true]"


def running(stack: Stack) -> Iterator[str]:
    """Find services without a health check, bounds or a way to come back."""
    once = {
        other
        for service in stack.services.values()
        for other, condition in _conditions(service)
        if condition == "service_completed_successfully"
    }
    for name, service in stack.services.items():
        check = service.get("healthcheck") or {}
        if name not in once and ("test" not in check or check.get("disable")):
            yield f"{name}: has no health check"
        if name not in once and service.get("restart") not in {"unless-stopped", "always", "on-failure"}:
            yield f"{name}: does not start again by itself; restart: unless-stopped"
        if "mem_limit" not in service and "memory" not in _limits(service):
            yield f"{name}: has no limit of memory"
        if "max-size" not in (service.get("logging") or {}).get("options", {}):
            yield f"{name}: its log grows without end; logging.options.max-size"


def settings(stack: Stack) -> Iterator[str]:
    """Find what Elasticsearch would not know, or not start with."""
    for name, service in stack.services.items():
        environment = service.get("environment") or {}
        if isinstance(environment, list):
            environment = dict(one.partition("=")[::2] for one in environment)
        for key in environment:
            known = KNOWN_SETTINGS if SETTING.fullmatch(key) else KNOWN_VARIABLES
            if key not in known:
                yield f"{name}: the variable {key} is not known to this check"
    for path in sorted((stack.folder / "docker").glob("*/elasticsearch.yml")):
        written = YAML(typ="safe").load(path.read_text("utf-8")) or {}
        for key in written:
            if key not in KNOWN_SETTINGS:
                yield f"{_shown(stack, path)}: the setting {key} is not known to this check"
        if written.get("xpack.security.enabled") is not True:
            yield f"{_shown(stack, path)}: security is not on; xpack.security.enabled: true"
        given = {key for service in stack.services.values() for key in service.get("environment") or ()}
        for found in VARIABLE.finditer(_without_comments(path.read_text("utf-8"))):
            variable = found["braced"] or found["bare"]
            if variable not in given:
                yield f"{_shown(stack, path)}: no service sets {variable}"


RULES: tuple[Callable[[Stack], Iterator[str]], ...] = (
    variables,
    images,
    references,
    exposure,
    running,
    settings,
)


def findings(folder: Path) -> list[str]:
    """Return all that is wrong, one line each; where the form is wrong, only that."""
    try:
        stack = read_stack(folder)
    except OSError as error:
        return [f"{error.filename}: {error.strerror}"]
    except YAMLError as error:
        return [f"{COMPOSE}: {' '.join(str(error).split())}"]
    wrong = list(form(stack)) or [found for rule in RULES for found in rule(stack)]
    return list(dict.fromkeys(wrong))


def _without_comments(text: str) -> str:
    return re.sub(r"(^|\s)#.*", "", text, flags=re.MULTILINE)


def _pinned(image: str) -> bool:
    name, _, tag = image.rpartition(":")
    return "@sha256:" in image or (bool(name) and "/" not in tag and tag != "latest" and "$" not in tag)


def _mounted(volume: str | dict[str, Any]) -> tuple[str, bool]:
    """Return what is mounted, and whether it is a path of this machine."""
    if isinstance(volume, dict):
        return volume.get("source", ""), volume["type"] == "bind"
    source, _, target = re.sub(r"\$\{[^}]*\}", "$", volume).partition(":")
    return (source, source.startswith((".", "/", "~", "$"))) if target else ("", False)


def _conditions(service: dict[str, Any]) -> list[tuple[str, str]]:
    waits = service.get("depends_on", {})
    if isinstance(waits, list):
        return [(other, "service_started") for other in waits]
    return [(other, how["condition"]) for other, how in waits.items()]


def _limits(service: dict[str, Any]) -> dict[str, Any]:
    limits = ((service.get("deploy") or {}).get("resources") or {}).get("limits") or {}
    return dict(limits)


def _shown(stack: Stack, path: Path) -> str:
    return str(path.relative_to(stack.folder)) if path.is_relative_to(stack.folder) else str(path)


def main() -> None:
    """Tell what is wrong."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    wrong = findings(folder)
    for line in wrong:
        sys.stdout.write(line + "\n")
    if wrong:
        sys.exit(1)
    services = ", ".join(read_stack(folder).services)
    sys.stdout.write(f"{COMPOSE}: nothing wrong with the form of {services}; nothing was started\n")


if __name__ == "__main__":
    main()
