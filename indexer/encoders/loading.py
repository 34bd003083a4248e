"""Loading of a model from the hub's cache or a folder: local files only, without remote code."""

import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from base.errors import InvalidCall, LibraryMissing
from indexer.errors import EncoderUnusable
from indexer.settings import Precision

if TYPE_CHECKING:
    import torch

Model = TypeVar("Model")

INSTALL = "install them with `make install-models` (pip: the extra `models`)"
UNBOUNDED = 1_000_000  # tokenizers without a limit report 10^30
ODD = 8


class Source(Protocol):
    """The source and device of a model: the settings shared by encoder and re-ranker."""

    @property
    def model(self) -> str:
        """Name on the hub, or folder."""

    @property
    def revision(self) -> str:
        """Commit on the hub."""

    @property
    def cache(self) -> Path | None:
        """Folder of downloaded models."""

    @property
    def download(self) -> bool:
        """Whether the model may be downloaded from the hub."""

    @property
    def device(self) -> str:
        """Device to run on."""

    @property
    def precision(self) -> Precision:
        """Number format of the computation."""


@contextmanager
def libraries() -> Iterator[None]:
    """Context for importing torch and related libraries, without telemetry.

    Raises:
        LibraryMissing: one of the libraries is not installed.
    """
    # Read when huggingface_hub is imported; telemetry would connect to an address not in the settings.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    except ImportError as error:
        raise LibraryMissing(
            f"running a model in this process needs missing libraries: {error}", remedy=INSTALL
        ) from error


def device_of(name: str) -> str:
    """Return the device to run on: `auto` is the first GPU, otherwise the CPU.

    Raises:
        EncoderUnusable: the device is not available.
    """
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise EncoderUnusable(
            f"device {name!r} is not available ({reason}); set the device to auto or cpu"
        ) from None
    return name


def dtype_of(precision: Precision, device: str) -> "torch.dtype":
    """Return the number format: by default float32 on a CPU, half precision on a GPU."""
    import torch

    if precision == "auto":
        if not device.startswith("cuda"):
            return torch.float32
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}[precision]


def load(kind: Callable[..., Model], source: Source, variable: str, **options: Any) -> Model:
    """Load a model with its class of sentence-transformers.

    The hub is contacted only if `download` is set and HF_HUB_OFFLINE is not. Code that comes with a model is
    never executed.

    Args:
        kind: SentenceTransformer or CrossEncoder.
        source: model, location and device.
        variable: prefix of the settings' variables for messages: `SHRAG_ENCODER__`.
        options: further arguments of the class.

    Raises:
        EncoderUnusable: the model is missing or invalid.
    """
    device = device_of(source.device)
    _silence()
    try:
        return kind(
            source.model,
            device=device,
            revision=source.revision or None,
            cache_folder=str(source.cache) if source.cache else None,
            local_files_only=not source.download,
            trust_remote_code=False,
            model_kwargs={"dtype": dtype_of(source.precision, device)},
            **options,
        )
    except Exception as error:
        raise _unusable(source, variable, error) from error


def token_limit(model: Any, asked: int | None, variable: str) -> int:
    """Set and return the maximal number of tokens of a text; 0 for no limit.

    Args:
        model: a model of sentence-transformers.
        asked: the configured number; None keeps the model's own limit.
        variable: the name of the setting, for the message.

    Raises:
        InvalidCall: the model has fewer positions.
    """
    own = model.max_seq_length
    if own is not None and own > UNBOUNDED:
        own = None
    positions = getattr(model.config, "max_position_embeddings", None) or UNBOUNDED
    if positions > ODD:
        positions -= positions % ODD  # RoBERTa models have two more positions, which are not usable
    if asked is not None and asked > positions:
        raise InvalidCall(
            f"the model reads {positions:,} tokens, less than the requested {asked:,}: lower {variable}"
        )
    tokens = asked or min(own or UNBOUNDED, positions)
    if tokens >= UNBOUNDED:
        return 0
    if tokens != model.max_seq_length:
        model.max_seq_length = tokens
    return int(tokens)


def _silence() -> None:
    """Silence the libraries' progress bars and log messages."""
    from transformers.utils import logging as of_transformers

    of_transformers.disable_progress_bar()
    of_transformers.set_verbosity_error()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)


def _unusable(source: Source, variable: str, error: Exception) -> EncoderUnusable:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    what = f"model {source.model!r}"
    if source.revision:
        what += f" at revision {source.revision!r}"
    if Path(source.model).is_dir() or source.download:
        return EncoderUnusable(f"{what} cannot be loaded: {reason}")
    return EncoderUnusable(
        f"{what} is not on this machine ({reason}); copy it here and set {variable}MODEL to its folder "
        f"or {variable}CACHE to the folder of downloaded models, or set {variable}DOWNLOAD=true"
    )
