"""Disk space for indexes, and for the weights of a local encoder."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from indexer.settings import EncoderSettings
from stack.doctor.findings import Examined, Finding, Status

# A version of 100,000 passages needs about 200 MB; an update temporarily needs the same again.
LITTLE, TOO_LITTLE = 5_000_000_000, 500_000_000


def check_disk(examined: Examined) -> Iterator[Finding]:
    """Report the free space of each folder that the settings write to or read weights from."""
    settings = examined.settings.indexer
    yield _space("home", settings.home, "SHRAG_HOME")
    if settings.encoder.provider == "local":
        yield _space("weights", weights_folder(settings.encoder), "SHRAG_ENCODER__CACHE")


def weights_folder(encoder: EncoderSettings) -> Path:
    """Return the folder with the weights of a local encoder."""
    if Path(encoder.model).is_dir():
        return Path(encoder.model)
    if encoder.cache:
        return encoder.cache
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")


def _space(subject: str, folder: Path, variable: str) -> Finding:
    free = shutil.disk_usage(nearest_folder(folder)).free
    status = space_status(free)
    mend = "" if status == "ok" else f"free space, or set {variable} to another disk"
    return Finding(subject, status, f"{free / 1e9:,.1f} GB free", configured=str(folder), mend=mend)


def nearest_folder(path: Path) -> Path:
    """Return the path itself, or its nearest existing parent folder."""
    # Unlike Path.exists, os.path.exists does not raise if a folder is not accessible.
    parents = (path, *path.absolute().parents)
    return next((folder for folder in parents if os.path.exists(folder)), Path("/"))  # noqa: PTH110


def space_status(free: int) -> Status:
    """Return the status of a number of free bytes."""
    if free < TOO_LITTLE:
        return "wrong"
    return "warning" if free < LITTLE else "ok"
