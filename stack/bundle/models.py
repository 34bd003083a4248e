"""Models: a snapshot of the hub at a commit, or a local folder; and checks for completeness."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from base.extras import extra_remedy
from base.files.regular_files import read_regular
from stack.bundle.manifest import DESCRIPTION_BYTES, Model
from stack.errors import BundleCallError, BundleIncomplete

# Other formats of the same weights; with safetensors neither vLLM nor sentence-transformers reads them.
OTHER_FORMS = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "original/*"]
HUB_NOTES = ".cache"  # state of a resumable download
CONFIG = "config.json"
MODULES = "modules.json"  # of sentence-transformers
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
INDEXES = tuple(f"{name}.index.json" for name in WEIGHTS)  # of sharded weights
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "sentencepiece.bpe.model")


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The source of a model, and its name in the bundle: OWNER/NAME."""

    name: str
    revision: str = ""  # on the hub
    folder: Path | None = None


def parse_model(text: str) -> ModelSource:
    """Parse OWNER/NAME@REVISION, or FOLDER=OWNER/NAME; raise BundleCallError for anything else."""
    folder, equals, name = text.partition("=")
    if folder and equals and Path(folder).is_dir() and _is_owner_and_name(name):
        return ModelSource(name, folder=Path(folder))
    name, _, revision = text.partition("@")
    if equals or not _is_owner_and_name(name) or not revision:
        raise BundleCallError(
            f"--model {text}: write OWNER/NAME@REVISION (a commit of the hub, which never changes), "
            "or FOLDER=OWNER/NAME for a model in a local folder"
        )
    return ModelSource(name, revision=revision)


def _is_owner_and_name(name: str) -> bool:
    return name.count("/") == 1 and all(part and not part.startswith(".") for part in name.split("/"))


def collect_model(source: ModelSource, target: Path) -> Model:
    """Copy a resolved model to `target`, and return its manifest entry.

    Raises:
        BundleIncomplete: the hub does not provide the model, or the model is incomplete.
    """
    if source.folder:
        shutil.rmtree(target, ignore_errors=True)
        try:  # without `.git` and `.env`, which may contain keys
            shutil.copytree(source.folder, target, ignore=shutil.ignore_patterns(".*"))
        except OSError as error:  # shutil.Error is a subclass
            raise BundleIncomplete(
                f"model {source.name}: {source.folder} cannot be copied: {error}"
            ) from error
    else:  # files with the right hash are not downloaded again
        _ask_hub(source, "snapshot_download", local_dir=target, ignore_patterns=OTHER_FORMS)
        shutil.rmtree(target / HUB_NOTES, ignore_errors=True)
    if faults := list(model_faults(target)):
        raise BundleIncomplete(f"model {source.name}: {'; '.join(faults)}")
    return Model(source.name, source.revision, "folder" if source.folder else "hub")


def resolve_model(source: ModelSource) -> ModelSource:
    """Return a model of the hub with its commit, as a branch may move; a local folder is unchanged.

    Raises:
        BundleIncomplete: the hub does not know the model, or does not answer.
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
            f"model {source.name}: the hub's client is not installed; {extra_remedy('models')}"
        ) from error
    except Exception as error:  # the client's errors have no common base
        line = str(error).strip().partition("\n")[0]
        raise BundleIncomplete(
            f"model {source.name}@{source.revision}: {type(error).__name__}: {line}; the same command resumes"
        ) from error


def model_faults(folder: Path) -> Iterator[str]:
    """Yield the files that a model lacks according to its own configuration."""
    there = {path.name for path in folder.glob("*") if path.is_file()}
    if not isinstance(_read(folder / CONFIG), dict):
        yield f"{CONFIG} is missing, or not a JSON object"
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
            yield f"{MODULES} contains an invalid module"
        elif path and not (folder / path / CONFIG).is_file() and "Normalize" not in str(module.get("type")):
            yield f"{MODULES} names {path}, and {path}/{CONFIG} is missing"


def _read(path: Path) -> Any:
    try:
        return json.loads(read_regular(path, DESCRIPTION_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
