"""Rules about the file itself: its form, its variables, and what it names elsewhere."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from jsonschema import Draft202012Validator

from stack.check.reading import (
    COMPOSE,
    DOCUMENTED,
    EXAMPLE,
    VARIABLE,
    Stack,
    mounted,
    without_comments,
)

DOCKERFILE = "Dockerfile"
SCHEMA = "builtin_schemas/vendor/compose-spec.json"

SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|API_KEY|PRIVATE")
EXAMPLE_LINE = re.compile(r"(?P<off># )?(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>.*)")


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
    for found in VARIABLE.finditer(without_comments(stack.text)):
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
            yield f"{name}: is in none of {', '.join(DOCUMENTED)}"


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
            yield f"{name}: is built from {stack.shown(dockerfile)}, which is not there"
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
            yield f"{stack.shown(dockerfile)} begins from {words[0]}, which has no fixed tag"
        if instruction in {"COPY", "ADD"} and not any(word.startswith("--from") for word in words):
            sources = [word for word in words if not word.startswith("--")][:-1]
            for source in sources:
                if not (context / source).exists():
                    yield f"{stack.shown(dockerfile)} copies {source}, which is not there"


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
        for source, is_path in map(mounted, service.get("volumes", ())):
            if is_path and not source.startswith("$") and not (stack.folder / source).exists():
                yield f"{name}: mounts {source}, which is not there"
            if source and not is_path and source not in (stack.compose.get("volumes") or {}):
                yield f"{name}: {source} is not declared under volumes"
    in_use = {source for one in stack.services.values() for source, _ in map(mounted, one.get("volumes", ()))}
    for volume in stack.compose.get("volumes") or ():
        if volume not in in_use:
            yield f"{volume}: is declared under volumes, and no service mounts it"


def _pinned(image: str) -> bool:
    name, _, tag = image.rpartition(":")
    return "@sha256:" in image or (bool(name) and "/" not in tag and tag != "latest" and "$" not in tag)
