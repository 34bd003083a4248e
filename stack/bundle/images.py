"""Images of containers, saved by whichever tool there is, with the digest that the registry knows them by."""

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stack.bundle.manifest import unfinished_of
from stack.errors import BundleIncomplete

IMAGE_LINE = re.compile(r"^\s*image:\s*(?P<name>[^\s#]+)", re.MULTILINE)
BUILT_HERE = "shrag-"  # in no registry: docker compose build makes it
LAST_LINES = 3

Save = Callable[[str, str, Path], str]  # tool, image, file; returns the digest


def images_of(compose: str) -> tuple[str, ...]:
    """Name the images of a compose file, each once, in order."""
    return tuple(dict.fromkeys(found["name"] for found in IMAGE_LINE.finditer(compose)))


def file_name(image: str) -> str:
    """Return the name of an image's archive."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", image) + ".tar"


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that saves images: how it does it, and a call that fails where it cannot."""

    save: Save
    probe: tuple[str, ...]
    builds: bool  # or it knows those that were built here


def find_tool() -> tuple[str, Tool] | None:
    """Find the first tool that is installed and works: docker's client without its engine does not."""
    for name, tool in TOOLS.items():
        path = shutil.which(name)
        if path and subprocess.run([path, *tool.probe], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return path, tool
    return None


def why_not_here(image: str) -> str:
    """Tell why an image cannot be saved on this machine, or nothing."""
    found = find_tool()
    if found is None:
        return f"none of {', '.join(TOOLS)} works on this machine; install one, or save the image on another"
    if image.startswith(BUILT_HERE) and not found[1].builds:
        return f"it is built here, and {Path(found[0]).name} builds none; install docker or podman"
    return ""


def collect_image(image: str, target: Path) -> dict[str, str]:
    """Save an image, and return what the manifest tells of it; one that is there is left.

    Raises:
        BundleIncomplete: the tool fails.
    """
    found = find_tool()
    if found is None:
        raise BundleIncomplete(f"image {image}: {why_not_here(image)}")
    path, tool = found
    file = target / file_name(image)
    noted = file.with_suffix(".digest")
    if not (file.is_file() and noted.is_file()):
        target.mkdir(parents=True, exist_ok=True)
        unfinished = unfinished_of(file)
        unfinished.unlink(missing_ok=True)
        digest = tool.save(path, image, unfinished)
        noted.write_text(digest + "\n", "utf-8")
        unfinished.replace(file)
    return {"name": image, "digest": noted.read_text("utf-8").strip(), "file": f"{target.name}/{file.name}"}


def _by_engine(tool: str, image: str, file: Path) -> str:
    """Save with docker or podman; an image that is built here has its own id for a digest."""
    if not image.startswith(BUILT_HERE):
        _run(image, [tool, "pull", "--quiet", image])
    wanted = "{{.Id}}" if image.startswith(BUILT_HERE) else "{{index .RepoDigests 0}}"
    digest = _run(image, [tool, "image", "inspect", "--format", wanted, image]).strip()
    _run(image, [tool, "save", "--output", str(file), image])
    return digest.rpartition("@")[2]


def _by_skopeo(tool: str, image: str, file: Path) -> str:
    """Copy from the registry, without an engine."""
    full = image if "." in image.partition("/")[0] else f"docker.io/{image}"
    digest = _run(image, [tool, "inspect", "--format", "{{.Digest}}", f"docker://{full}"]).strip()
    name = full.partition("@")[0].rpartition(":")[0] or full
    _run(image, [tool, "copy", "--quiet", f"docker://{name}@{digest}", f"docker-archive:{file}:{image}"])
    return digest


def _run(image: str, command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a found tool
    if done.returncode != 0:
        said = " ".join(done.stderr.split("\n")[-LAST_LINES - 1 :]).strip()
        raise BundleIncomplete(f"image {image}: {' '.join(command[:2])}: {said or done.returncode}")
    return done.stdout


TOOLS: dict[str, Tool] = {
    "docker": Tool(_by_engine, ("version", "--format", "{{.Server.Version}}"), builds=True),
    "podman": Tool(_by_engine, ("info",), builds=True),
    "skopeo": Tool(_by_skopeo, ("--version",), builds=False),
}
