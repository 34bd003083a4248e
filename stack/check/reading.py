"""The files of the stack, read, and what is common to several rules about them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

COMPOSE, EXAMPLE = "docker-compose.yml", ".env.example"
DOCUMENTED = ("docs/cluster.md", "docs/models.md")  # a variable is told in one of them

VARIABLE = re.compile(r"(?<!\$)\$(?:\{(?P<braced>\w+)(?P<operator>:?[-?+])?(?P<rest>[^}]*)\}|(?P<bare>\w+))")


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

    def shown(self, path: Path) -> str:
        """Return a path as it is told: from the folder on."""
        return str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else str(path)


def read_stack(folder: Path) -> Stack:
    """Read the files; raises OSError, or YAMLError for what is no YAML or names a key twice."""
    text = (folder / COMPOSE).read_text("utf-8")
    return Stack(
        folder=folder,
        text=text,
        compose=YAML(typ="safe").load(text),
        example=(folder / EXAMPLE).read_text("utf-8"),
        documented="\n".join((folder / page).read_text("utf-8") for page in DOCUMENTED),
    )


def without_comments(text: str) -> str:
    """Return YAML without what stands behind a #."""
    return re.sub(r"(^|\s)#.*", "", text, flags=re.MULTILINE)


def environment_of(service: dict[str, Any]) -> dict[str, str]:
    """Return a service's variables, in whichever of the two forms they are written."""
    given = service.get("environment") or {}
    pairs = (one.partition("=")[::2] for one in given) if isinstance(given, list) else given.items()
    return {str(name): str(value) for name, value in pairs}


def is_model_server(service: dict[str, Any]) -> bool:
    """Tell whether a service is a server of models; all others are nodes of Elasticsearch."""
    return str(service.get("image", "")).startswith("vllm/")


def mounted(volume: str | dict[str, Any]) -> tuple[str, bool]:
    """Return what is mounted, and whether it is a path of this machine."""
    if isinstance(volume, dict):
        return volume.get("source", ""), volume["type"] == "bind"
    source, _, target = re.sub(r"\$\{[^}]*\}", "$", volume).partition(":")
    return (source, source.startswith((".", "/", "~", "$"))) if target else ("", False)
