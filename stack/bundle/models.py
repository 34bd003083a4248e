"""Models: a snapshot of the hub at a revision, or a folder of this machine; and whether one is whole."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stack.bundle.source import copy_whole
from stack.errors import BundleCallError, BundleIncomplete

# Other forms of the same weights: beside safetensors neither vLLM nor sentence-transformers reads them.
OTHER_FORMS = ("onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "original/*")
HUB_NOTES = ".cache"  # of a download that can be resumed
CONFIG = "config.json"
MODULES = "modules.json"  # of sentence-transformers
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
INDEXES = tuple(f"{name}.index.json" for name in WEIGHTS)
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "sentencepiece.bpe.model")


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model comes from, and what it is called in the bundle: OWNER/NAME."""

    name: str
    revision: str = ""  # of the hub
    folder: Path | None = None


def parse_model(text: str) -> ModelSource:
    """Read OWNER/NAME@REVISION, or FOLDER=OWNER/NAME.

    Raises:
        BundleCallError: it is neither.
    """
    folder, equals, name = text.partition("=")
    if equals or Path(text).is_dir():
        name = name or Path(text).resolve().name
        if not Path(folder).is_dir():
            raise BundleCallError(f"--model {text}: {folder} is no folder")
        if not _plain(name):
            raise BundleCallError(f"--model {text}: {name!r} is no name; write FOLDER=OWNER/NAME")
        return ModelSource(name, folder=Path(folder))
    name, _, revision = text.partition("@")
    if name.count("/") != 1 or not _plain(name) or not revision:
        raise BundleCallError(
            f"--model {text}: write OWNER/NAME@REVISION (a commit of the hub: tomorrow the same), "
            "or FOLDER=OWNER/NAME for one that is here"
        )
    return ModelSource(name, revision=revision)


def _plain(name: str) -> bool:
    return all(part not in {"", ".", ".."} and not part.startswith(".") for part in name.split("/"))


def collect_model(source: ModelSource, target: Path) -> dict[str, str]:
    """Bring a model to `target`, and return what the manifest tells of it.

    Raises:
        BundleIncomplete: the hub does not give it, or it is not whole.
    """
    if source.folder:
        for path in sorted(source.folder.rglob("*")):
            if path.is_file() and HUB_NOTES not in path.relative_to(source.folder).parts:
                copy_whole(path, target / path.relative_to(source.folder))
        record = {"name": source.name, "revision": "", "source": "folder"}
    else:
        record = {"name": source.name, "revision": _from_hub(source, target), "source": "hub"}
    if faults := list(model_faults(target)):
        raise BundleIncomplete(f"model {source.name}: {'; '.join(faults)}")
    return record


def _from_hub(source: ModelSource, target: Path) -> str:
    """Download a snapshot, going on with a broken-off one, and return its commit."""
    try:
        from huggingface_hub import HfApi, snapshot_download
    except ModuleNotFoundError as error:
        raise BundleIncomplete(
            f"model {source.name}: the hub's client is not installed; make install-models"
        ) from error
    try:
        commit = HfApi().model_info(source.name, revision=source.revision).sha or source.revision
        snapshot_download(source.name, revision=commit, local_dir=target, ignore_patterns=list(OTHER_FORMS))
    except Exception as error:  # the client's errors have no common base
        line = str(error).strip().partition("\n")[0]
        raise BundleIncomplete(
            f"model {source.name}@{source.revision}: {type(error).__name__}: {line}; the same command goes on"
        ) from error
    _remove(target / HUB_NOTES)
    return commit


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def model_faults(folder: Path) -> Iterator[str]:
    """Tell what a model lacks to be loaded: the files that its own configuration names."""
    if not (folder / CONFIG).is_file():
        yield f"{CONFIG} is missing"
        return
    if not isinstance(_read(folder / CONFIG), dict):
        yield f"{CONFIG} is no JSON object"
    if not any((folder / name).is_file() for name in TOKENIZERS):
        yield f"there is no tokenizer ({', '.join(TOKENIZERS)})"
    yield from _weight_faults(folder)
    modules = _read(folder / MODULES) if (folder / MODULES).is_file() else []
    for one in modules if isinstance(modules, list) else ():
        path = str(one.get("path", "")) if isinstance(one, dict) else ""
        if path and not (folder / path / CONFIG).is_file() and "Normalize" not in str(one.get("type")):
            yield f"{MODULES} names {path}, and {path}/{CONFIG} is missing"


def _weight_faults(folder: Path) -> Iterator[str]:
    index = next((name for name in INDEXES if (folder / name).is_file()), None)
    if index is None:
        if not any((folder / name).is_file() for name in WEIGHTS):
            yield f"there are no weights ({', '.join((*WEIGHTS, *INDEXES))})"
        return
    written = _read(folder / index)
    shards = written.get("weight_map") if isinstance(written, dict) else None
    if not isinstance(shards, dict):
        yield f"{index} names no weights"
        return
    for name in sorted(set(map(str, shards.values()))):
        if not (folder / name).is_file():
            yield f"{index} names {name}, which is missing"


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
