"""Identity of a loaded model: the commit on the hub, or a hash of a folder's files."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

# Files of a model that matter; descriptions, licences and other formats of the weights are ignored.
READ = (".json", ".txt", ".model", ".safetensors", ".bin")
SMALL = 1 << 22  # bytes; smaller files are hashed completely
SAMPLES, SAMPLE = 256, 1 << 14  # evenly spread places of a larger file, and bytes read at each


def name_and_revision(model: str, revision: str, cache: Path | None) -> tuple[str, str]:
    """Return the name and revision of a model for its fingerprint.

    The revision is the commit found on the hub, or `files:` and 16 hexadecimal digits for a folder.

    Args:
        model: name on the hub, or folder.
        revision: the configured commit, branch or tag, as resolved when the model was downloaded.
        cache: folder of downloaded models; None for the libraries' default.
    """
    folder = Path(model)
    if folder.is_dir():
        return folder.resolve().name, f"files:{mark_of(folder)}"
    return model, _commit(model, revision, cache) or revision


def _commit(model: str, revision: str, cache: Path | None) -> str:
    from huggingface_hub import try_to_load_from_cache

    # sentence-transformers resolves a name without an owner in its own group.
    name = model if "/" in model else f"sentence-transformers/{model}"
    folder = cache or os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    for file in ("modules.json", "config.json"):
        found = try_to_load_from_cache(name, file, cache_dir=folder, revision=revision or None)
        if isinstance(found, str):
            return Path(found).parent.name
    return ""


def mark_of(folder: Path) -> str:
    """Return a hash of a model's files, 16 hexadecimal digits.

    Covers names, sizes, complete small files, and 4 MiB of each larger file from 256 places. This takes
    milliseconds instead of seconds for gigabytes of weights, and different training changes numbers
    everywhere. It is not a checksum against damage.
    """
    digest = hashlib.sha256()
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in READ and file.is_file() and not _hidden(file, folder)
    )
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder).as_posix()}\0{size}\0".encode())
        for block in _blocks(file, size):
            digest.update(block)
    return digest.hexdigest()[:16]


def _blocks(file: Path, size: int) -> Iterator[bytes]:
    if size <= SMALL:
        yield file.read_bytes()
        return
    with file.open("rb") as opened:
        for number in range(SAMPLES):
            opened.seek((size - SAMPLE) * number // (SAMPLES - 1))
            yield opened.read(SAMPLE)


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)
