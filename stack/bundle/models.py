"""Models: a snapshot of the hub at a revision, or a folder of this machine; and whether one is whole."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
    """Bring a model, resolved, to `target`, and return what the manifest tells of it.

    Raises:
        BundleIncomplete: the hub does not give it, or it is not whole.
    """
    if source.folder:
        _from_folder(source.folder, target)
        record = {"name": source.name, "revision": "", "source": "folder"}
    else:
        _from_hub(source, target)
        record = {"name": source.name, "revision": source.revision, "source": "hub"}
    if faults := list(model_faults(target)):
        raise BundleIncomplete(f"model {source.name}: {'; '.join(faults)}")
    return record


def _from_folder(folder: Path, target: Path) -> None:
    """Copy a folder but for what is hidden (`.git`, `.env` may hold keys); delete what it does not have."""
    names = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    wanted = {name for name in names if not any(part.startswith(".") for part in name.parts)}
    for path in target.rglob("*"):
        if not path.is_dir() and path.relative_to(target) not in wanted:
            path.unlink()
    for name in sorted(wanted):
        copy_whole(folder / name, target / name)


def resolve_model(source: ModelSource) -> ModelSource:
    """Return a model of the hub by its commit: a branch may be another tomorrow; a folder as it is.

    Raises:
        BundleIncomplete: the hub does not know it, or does not answer.
    """
    if source.folder:
        return source
    with _asking_the_hub(source):
        from huggingface_hub import HfApi

        commit = HfApi().model_info(source.name, revision=source.revision).sha
    return replace(source, revision=commit or source.revision)


def _from_hub(source: ModelSource, target: Path) -> None:
    """Download a snapshot, going on with a broken-off one."""
    with _asking_the_hub(source):
        from huggingface_hub import snapshot_download

        snapshot_download(
            source.name, revision=source.revision, local_dir=target, ignore_patterns=list(OTHER_FORMS)
        )
    shutil.rmtree(target / HUB_NOTES, ignore_errors=True)


@contextmanager
def _asking_the_hub(source: ModelSource) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise BundleIncomplete(
            f"model {source.name}: the hub's client is not installed; make install-models"
        ) from error
    except Exception as error:  # the client's errors have no common base
        line = str(error).strip().partition("\n")[0]
        raise BundleIncomplete(
            f"model {source.name}@{source.revision}: {type(error).__name__}: {line}; the same command goes on"
        ) from error


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
