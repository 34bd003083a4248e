"""Container images, saved by the first available tool, with the digest in their registry."""

import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

from base.files.durable import sync, write_durably
from stack.bundle.manifest import Image
from stack.bundle.tools import run_tool

IMAGE_LINE = re.compile(r"^\s*image:\s*(?P<name>[^\s#]+)", re.MULTILINE)
BUILT_HERE = "shrag-"  # built by docker compose build; in no registry
# Commands that fail if the tool does not work: docker's client is often installed without its engine.
PROBES = {
    "docker": ["version", "--format", "{{.Server.Version}}"],
    "podman": ["info"],
    "skopeo": ["--version"],
}


def images_of(compose: str) -> tuple[str, ...]:
    """Return the distinct images of a compose file, in order."""
    return tuple(dict.fromkeys(found["name"] for found in IMAGE_LINE.finditer(compose)))


def file_name(image: str) -> str:
    """Return a unique name for an image's archive: `a/b:1` in `a%2Fb%3A1.tar`."""
    return quote(image, safe="") + ".tar"


def find_tool() -> str | None:
    """Return the first tool that is installed and works."""
    for name, probe in PROBES.items():
        path = shutil.which(name)
        if path and subprocess.run([path, *probe], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return path
    return None


def why_not_here(tool: str | None, image: str) -> str:
    """Return the reason why the tool cannot save an image on this machine, or ""."""
    if tool is None:
        return f"none of {', '.join(PROBES)} works here; install one, or save the image on another machine"
    if image.startswith(BUILT_HERE) and Path(tool).name == "skopeo":
        return "it is built locally, which skopeo cannot do; install docker or podman"
    return ""


def collect_image(tool: str, image: str, target: Path) -> Image:
    """Save an image and return its manifest entry; an image that is already saved with its digest is kept.

    Raises:
        BundleIncomplete: the tool fails.
    """
    file = target / file_name(image)
    digest_file = file.with_suffix(".digest")  # written when the image is complete
    if not digest_file.is_file():
        target.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        save = _save_by_skopeo if Path(tool).name == "skopeo" else _save_by_engine
        saved = save(tool, image, file)
        sync(file)
        write_durably(digest_file, saved + "\n")
    digest = digest_file.read_text("utf-8").strip()
    return Image(image, digest, f"{target.name}/{file.name}")


def _save_by_engine(tool: str, image: str, file: Path) -> str:
    """Save with docker or podman; a locally built image uses its own id as digest."""
    built_here, purpose = image.startswith(BUILT_HERE), f"image {image}"
    if not built_here:
        run_tool([tool, "pull", "--quiet", image], purpose)
    wanted = "{{.Id}}" if built_here else "{{index .RepoDigests 0}}"
    digest = run_tool([tool, "image", "inspect", "--format", wanted, image], purpose).decode().strip()
    run_tool([tool, "save", "--output", str(file), image], purpose)
    return digest.rpartition("@")[2]


def _save_by_skopeo(tool: str, image: str, file: Path) -> str:
    """Copy from the registry, without a container engine."""
    full = image if "." in image.partition("/")[0] else f"docker.io/{image}"
    digest = run_tool([tool, "inspect", "--format", "{{.Digest}}", f"docker://{full}"], f"image {image}")
    name, by_digest = full.partition("@")[0].rpartition(":")[0] or full, digest.decode().strip()
    wanted, archive = f"docker://{name}@{by_digest}", f"docker-archive:{file}:{image}"
    run_tool([tool, "copy", "--quiet", wanted, archive], f"image {image}")
    return by_digest
