"""Reading of the manifest next to a run, apart from writing it, which imports the search."""

from pathlib import Path

from pydantic import BaseModel

from base.files.regular_files import read_regular

SUFFIX = ".manifest.json"
MOST_BYTES = 256_000_000  # largest manifest


class _Sum(BaseModel):
    sha256: str


class _Asked(_Sum):
    questions: int


class ReadManifest(BaseModel):
    """The part of a run's manifest that scores and comparisons use."""

    run: _Sum
    topics: _Asked
    unit: str = ""
    failed: dict[str, str] = {}


def manifest_path(run_path: Path) -> Path:
    """Return the path of a run's manifest."""
    return run_path.with_name(run_path.name + SUFFIX)


def read_manifest(run_path: Path, digest: str) -> ReadManifest | None:
    """Return the manifest of a run with this SHA-256; None if there is none."""
    try:
        read = ReadManifest.model_validate_json(read_regular(manifest_path(run_path), MOST_BYTES))
    except (OSError, ValueError):
        return None
    return read if read.run.sha256 == digest else None
