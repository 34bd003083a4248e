"""Which model exactly was loaded: the commit of the hub, or a mark of the files of a folder."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

# What a model is read from; descriptions, licences and other formats of the same weights are left out.
READ = (".json", ".txt", ".model", ".safetensors", ".bin")
SMALL = 1 << 22  # bytes up to which a file is read whole
SAMPLES, SAMPLE = 256, 1 << 14  # of a larger file: places spread evenly over it, and bytes read at each


def name_and_revision(model: str, revision: str, cache: Path | None) -> tuple[str, str]:
    """Return what a fingerprint says of a model: its name and what stands for its content.

    Of a model of the hub that is the commit that was found, of a folder `files:` and 16 hexadecimal digits.

    Args:
        model: name on the hub, or folder.
        revision: what the settings ask for: a commit, or a name that stood for one when it was fetched.
        cache: folder of downloaded models; None is the libraries' own.
    """
    folder = Path(model)
    if folder.is_dir():
        return folder.resolve().name, f"files:{mark_of(folder)}"
    return model, _commit(model, revision, cache) or revision


def _commit(model: str, revision: str, cache: Path | None) -> str:
    from huggingface_hub import try_to_load_from_cache

    # sentence-transformers looks for a bare name in its own group.
    name = model if "/" in model else f"sentence-transformers/{model}"
    folder = cache or os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    for file in ("modules.json", "config.json"):
        found = try_to_load_from_cache(name, file, cache_dir=folder, revision=revision or None)
        if isinstance(found, str):
            return Path(found).parent.name
    return ""


def mark_of(folder: Path) -> str:
    """Return 16 hexadecimal digits that change with the files of a model.

    Names, sizes, small files whole, and 4 MiB of each larger one, taken from 256 places: milliseconds instead
    of seconds for weights of gigabytes, and another training changes numbers everywhere. It is no check sum
    against damage.
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
