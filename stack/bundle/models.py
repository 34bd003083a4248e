"""Models: a snapshot of the hub at a commit, or a folder of this machine; and whether one is whole."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from base.files.regular_files import read_regular
from stack.bundle.manifest import DESCRIPTION_BYTES, Model
from stack.errors import BundleCallError, BundleIncomplete

# Other forms of the same weights: beside safetensors neither vLLM nor sentence-transformers reads them.
OTHER_FORMS = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "original/*"]
HUB_NOTES = ".cache"  # of a download that can be resumed
CONFIG = "config.json"
MODULES = "modules.json"  # of sentence-transformers
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
INDEXES = tuple(f"{name}.index.json" for name in WEIGHTS)  # of weights in parts
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "sentencepiece.bpe.model")


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model comes from, and what it is called in the bundle: OWNER/NAME."""

    name: str
    revision: str = ""  # of the hub
    folder: Path | None = None


def parse_model(text: str) -> ModelSource:
    """Read OWNER/NAME@REVISION, or FOLDER=OWNER/NAME; BundleCallError where it is neither."""
    folder, equals, name = text.partition("=")
    if folder and equals and Path(folder).is_dir() and _is_owner_and_name(name):
        return ModelSource(name, folder=Path(folder))
    name, _, revision = text.partition("@")
    if equals or not _is_owner_and_name(name) or not revision:
        raise BundleCallError(
            f"--model {text}: write OWNER/NAME@REVISION (a commit of the hub: tomorrow the same), "
            "or FOLDER=OWNER/NAME for one in a folder that is here"
        )
    return ModelSource(name, revision=revision)


def _is_owner_and_name(name: str) -> bool:
    return name.count("/") == 1 and all(part and not part.startswith(".") for part in name.split("/"))


def collect_model(source: ModelSource, target: Path) -> Model:
    """Bring a model, resolved, to `target`, and return what the manifest says of it.

    Raises:
        BundleIncomplete: the hub does not give it, or it is not whole.
    """
    if source.folder:
        shutil.rmtree(target, ignore_errors=True)
        try:  # `.git` and `.env`, which may hold keys, stay here
            shutil.copytree(source.folder, target, ignore=shutil.ignore_patterns(".*"))
        except OSError as error:  # shutil.Error is one too
            raise BundleIncomplete(
                f"model {source.name}: {source.folder} cannot be copied: {error}"
            ) from error
    else:  # what is there with the right hash is not fetched again
        _ask_hub(source, "snapshot_download", local_dir=target, ignore_patterns=OTHER_FORMS)
        shutil.rmtree(target / HUB_NOTES, ignore_errors=True)
    if faults := list(model_faults(target)):
        raise BundleIncomplete(f"model {source.name}: {'; '.join(faults)}")
    return Model(source.name, source.revision, "folder" if source.folder else "hub")


def resolve_model(source: ModelSource) -> ModelSource:
    """Return a model of the hub by its commit: a branch may be another tomorrow; a folder as it is.

    Raises:
        BundleIncomplete: the hub does not know it, or does not answer.
    """
    if source.folder:
        return source
    return replace(source, revision=_ask_hub(source, "model_info").sha or source.revision)


def _ask_hub(source: ModelSource, function: str, **options: Any) -> Any:
    """Call a function of the hub's client for a model, and turn its errors into one line."""
    try:
        import huggingface_hub

        return getattr(huggingface_hub, function)(source.name, revision=source.revision, **options)
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
    there = {path.name for path in folder.glob("*") if path.is_file()}
    if not isinstance(_read(folder / CONFIG), dict):
        yield f"{CONFIG} is missing, or no JSON object"
        return
    if not there.intersection(TOKENIZERS):
        yield f"there is no tokenizer ({', '.join(TOKENIZERS)})"
    if index := next((name for name in INDEXES if name in there), ""):
        try:
            parts = sorted(map(str, set(_read(folder / index)["weight_map"].values())))
        except (TypeError, KeyError, AttributeError):
            parts = []
        missing = [part for part in parts if not (folder / part).is_file()]
        yield from (f"{index} names {part}, which is missing" for part in missing)
        if not parts:
            yield f"{index} names no weights"
    elif not there.intersection(WEIGHTS):
        yield f"there are no weights ({', '.join(WEIGHTS)}, or an index of their parts)"
    modules = _read(folder / MODULES)
    for module in modules if isinstance(modules, list) else ():
        if not isinstance(module, dict) or not isinstance(path := module.get("path", ""), str):
            yield f"{MODULES} holds what is no module"
        elif path and not (folder / path / CONFIG).is_file() and "Normalize" not in str(module.get("type")):
            yield f"{MODULES} names {path}, and {path}/{CONFIG} is missing"


def _read(path: Path) -> Any:
    try:
        return json.loads(read_regular(path, DESCRIPTION_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
