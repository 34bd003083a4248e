"""Images of containers, saved by whichever tool there is, with the digest that the registry knows them by."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from stack.errors import BundleIncomplete

IMAGE_LINE = re.compile(r"^\s*image:\s*(?P<name>[^\s#]+)", re.MULTILINE)
BUILT_HERE = "shrag-"  # in no registry: docker compose build makes it
LAST_LINES = 3
# A call that fails where the tool does not work: docker's client is often there without its engine.
PROBES = {
    "docker": ["version", "--format", "{{.Server.Version}}"],
    "podman": ["info"],
    "skopeo": ["--version"],
}


def images_of(compose: str) -> tuple[str, ...]:
    """Name the images of a compose file, each once, in order."""
    return tuple(dict.fromkeys(found["name"] for found in IMAGE_LINE.finditer(compose)))


def file_name(image: str) -> str:
    """Return the name of an image's archive."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", image) + ".tar"


def find_tool() -> str | None:
    """Find the first tool that is installed and works."""
    for name, probe in PROBES.items():
        path = shutil.which(name)
        if path and subprocess.run([path, *probe], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return path
    return None


def why_not_here(image: str) -> str:
    """Tell why an image cannot be saved on this machine, or nothing."""
    tool = find_tool()
    if tool is None:
        return f"none of {', '.join(PROBES)} works on this machine; install one, or save the image on another"
    if image.startswith(BUILT_HERE) and Path(tool).name == "skopeo":
        return "it is built here, and skopeo builds none; install docker or podman"
    return ""


def collect_image(image: str, target: Path) -> dict[str, str]:
    """Save an image, and return what the manifest says of it; one that is there with its digest is left.

    Raises:
        BundleIncomplete: no tool works, or it fails.
    """
    tool = find_tool()
    if tool is None:
        raise BundleIncomplete(f"image {image}: {why_not_here(image)}")
    file = target / file_name(image)
    digest_file = file.with_suffix(".digest")  # written when the image is whole
    if not digest_file.is_file():
        target.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        save = _by_skopeo if Path(tool).name == "skopeo" else _by_engine
        digest_file.write_text(save(tool, image, file) + "\n", "utf-8")
    return {
        "name": image,
        "digest": digest_file.read_text("utf-8").strip(),
        "file": f"{target.name}/{file.name}",
    }


def _by_engine(tool: str, image: str, file: Path) -> str:
    """Save with docker or podman; an image that is built here has its own id for a digest."""
    built_here = image.startswith(BUILT_HERE)
    if not built_here:
        _run(image, [tool, "pull", "--quiet", image])
    wanted = "{{.Id}}" if built_here else "{{index .RepoDigests 0}}"
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
        said = " ".join(done.stderr.splitlines()[-LAST_LINES:]).strip()
        raise BundleIncomplete(f"image {image}: {' '.join(command[:2])}: {said or done.returncode}")
    return done.stdout
