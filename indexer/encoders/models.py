"""Models of sentence-transformers in this process, and the encoder: any of them, mGTE by default."""

import hashlib
import logging
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from base.errors import InvalidCall, LibraryMissing
from indexer.encoders import Progress, VectorFingerprint, Vectors
from indexer.encoders.rounding import scale_to_unit_length
from indexer.errors import EncoderUnusable
from indexer.settings import CheckSettings, EncoderSettings, RerankerSettings

ModelSettings: TypeAlias = EncoderSettings | RerankerSettings | CheckSettings

UNBOUNDED = 1_000_000  # tokenizers without a limit report 10^30
SURROGATE = re.compile("[\ud800-\udfff]")
BYTES_A_TOKEN = 4  # roughly; affects only the composition of batches
# Files of a model that matter; descriptions, licences and other formats of the weights are ignored.
MODEL_FILES = (".json", ".txt", ".model", ".safetensors", ".bin")
SAMPLES, SAMPLE_BYTES = 256, 1 << 14  # evenly spread places of a file, and bytes read at each
# Names of prefixes in models; the first non-empty one is used.
QUERY_PROMPTS = ("query",)
PASSAGE_PROMPTS = ("document", "passage", "corpus")


class LocalModel:
    """A model that is in memory until `close`. Thread-safe."""

    def __init__(self, kind: str, settings: ModelSettings, variable: str) -> None:
        """Load a model from the hub's cache or a folder.

        The hub is contacted only if `download` is set and HF_HUB_OFFLINE is not. Code that comes with a model
        is never executed.

        Args:
            kind: SentenceTransformer or CrossEncoder.
            settings: model, location and device.
            variable: prefix of the settings' variables for messages: `SHRAG_ENCODER__`.

        Raises:
            LibraryMissing: the libraries are missing.
            EncoderUnusable: the device is not available, or the model is missing or invalid.
            InvalidCall: the model has fewer positions than the tokens in the settings.
        """
        self.library: Any = _load(kind, settings, variable)
        self.variable = variable
        self.max_tokens = _limit_tokens(self.library, settings.max_tokens, variable)  # 0: no limit
        self.model = settings.model
        if (folder := Path(settings.model)).is_dir():
            self.model, self.revision = folder.resolve().name, f"files:{hash_of(folder)}"
        else:
            self.revision = _commit_of(settings) or settings.revision
        self._batch_tokens = settings.batch_tokens
        self._lock = threading.Lock()  # a fast tokenizer cannot change its padding while it is in use

    def compute(
        self, compute: Callable[[list[Any]], Vectors], texts: Sequence[Any], progress: Progress | None = None
    ) -> Vectors:
        """Compute a row for each text or pair of texts, in order, in batches of similar length.

        A batch without enough memory on the device is halved.

        Raises:
            EncoderUnusable: the device has not enough memory for a single text, or a row contains NaN or
                infinity.
        """
        rows: dict[int, Vectors] = {}
        with self._lock:
            for batch in cut_into_batches(texts, self._batch_tokens, self.max_tokens):
                found = self._compute(compute, [texts[place] for place in batch])
                rows |= zip(batch, found, strict=True)
                if progress is not None:
                    progress(len(rows))
        ordered = np.array([rows[place] for place in range(len(texts))], np.float32)
        if not np.isfinite(ordered).all():
            bad = np.argwhere(~np.isfinite(ordered))[0][0]
            raise EncoderUnusable(
                f"model {self.model!r}: the result of text {bad}, counted from 0, contains NaN or infinity; "
                f"with half precision, try {self.variable}PRECISION=float32"
            )
        return ordered

    def close(self) -> None:
        """Release the model."""
        del self.library

    def _compute(self, compute: Callable[[list[Any]], Vectors], texts: list[Any]) -> Sequence[Vectors]:
        import torch

        try:
            return list(compute(texts))
        except torch.OutOfMemoryError:
            if len(texts) == 1:
                raise EncoderUnusable(
                    f"the device {self.library.device} has not enough memory for a text: lower "
                    f"{self.variable}MAX_TOKENS, or run the model on another device"
                ) from None
        half = len(texts) // 2  # outside of the except clause, whose traceback keeps the failed batch
        return [*self._compute(compute, texts[:half]), *self._compute(compute, texts[half:])]


class LocalEncoder(LocalModel):
    """Texts to vectors by a model in this process.

    The same texts in the same order give the same bytes. Beside other texts, a vector differs by about 1e-7
    per number in float32 and some thousandths in half precision, because the order of sums may differ.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        """Load the model; InvalidCall if the settings exceed its dimensions."""
        super().__init__("SentenceTransformer", settings, "SHRAG_ENCODER__")
        self.fingerprint = VectorFingerprint(
            model=self.model,
            revision=self.revision,
            query_prefix=self._prefix(settings.query_prefix, QUERY_PROMPTS),
            passage_prefix=self._prefix(settings.passage_prefix, PASSAGE_PROMPTS),
            pooling=_pooling(self.library),
            dimensions=_dimensions(self.library, settings),
            max_tokens=self.max_tokens,
            storage=settings.storage,
        )

    def _prefix(self, asked: str | None, names: Sequence[str]) -> str:
        if asked is not None:
            return asked
        return next((prompt for name in names if (prompt := self.library.prompts.get(name))), "")

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for each question; EncoderUnusable without enough memory."""
        return self._encode(texts, self.fingerprint.query_prefix, "query", None)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return a unit vector for each passage; EncoderUnusable without enough memory."""
        return self._encode(texts, self.fingerprint.passage_prefix, "document", progress)

    def _encode(self, texts: Sequence[str], prefix: str, task: str, progress: Progress | None) -> Vectors:
        def encode(batch: list[str]) -> Vectors:
            rows: Vectors = self.library.encode(
                batch, prompt=prefix, task=task, batch_size=len(batch), show_progress_bar=False
            )
            return rows

        dimensions = self.fingerprint.dimensions
        if not texts:
            return np.empty((0, dimensions), np.float32)
        rows = self.compute(encode, list(map(without_surrogates, texts)), progress)
        try:
            return scale_to_unit_length(rows[:, :dimensions])
        except ValueError as error:
            raise EncoderUnusable(f"model {self.model!r}: {error}") from error


def _dimensions(model: Any, settings: EncoderSettings) -> int:
    whole: int | None = model.get_embedding_dimension()
    if whole is None:
        raise EncoderUnusable(f"model {settings.model!r} does not report its dimensions; choose another one")
    if settings.dimensions is not None and settings.dimensions > whole:
        raise InvalidCall(
            f"{settings.model!r} has {whole} dimensions, less than the requested {settings.dimensions}: "
            "lower SHRAG_ENCODER__DIMENSIONS"
        )
    return settings.dimensions or whole


def _pooling(model: Any) -> str:
    """Describe the modules after the transformer: `cls`, `mean`, `mean > dense`."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    steps: list[str] = []
    for module in model:
        if isinstance(module, Pooling):
            mode = module.pooling_mode
            step = mode if isinstance(mode, str) else "+".join(mode)
            steps.append(step if module.include_prompt else f"{step} without prefix")
        elif type(module).__name__ not in ("Transformer", "Normalize"):  # vectors are normalised here anyway
            steps.append(type(module).__name__.lower())
    return " > ".join(steps)


def _load(kind: str, settings: ModelSettings, variable: str) -> Any:
    # Read when huggingface_hub is imported; telemetry would connect to an address not in the settings.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import sentence_transformers
            import torch
            from transformers.utils import logging as of_transformers
    except ImportError as error:
        raise LibraryMissing(
            f"running a model in this process needs missing libraries: {error}",
            remedy="install them with `make install-models` (pip: the extra `models`)",
        ) from error
    of_transformers.disable_progress_bar()
    of_transformers.set_verbosity_error()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)

    device, precision = settings.device, str(settings.precision)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise EncoderUnusable(
            f"device {device!r} is not available ({reason}); set the device to auto or cpu"
        ) from None
    if precision == "auto":
        on_gpu = device.startswith("cuda")
        half = "bfloat16" if on_gpu and torch.cuda.is_bf16_supported(including_emulation=False) else "float16"
        precision = half if on_gpu else "float32"
    try:
        return getattr(sentence_transformers, kind)(
            settings.model,
            device=device,
            revision=settings.revision or None,
            cache_folder=str(settings.cache) if settings.cache else None,
            local_files_only=not settings.download,
            trust_remote_code=False,
            model_kwargs={"dtype": getattr(torch, precision)},
        )
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        what = f"model {settings.model!r}"
        what += f" at revision {settings.revision!r}" if settings.revision else ""
        if Path(settings.model).is_dir() or settings.download:
            raise EncoderUnusable(f"{what} cannot be loaded: {reason}") from error
        raise EncoderUnusable(
            f"{what} is not on this machine ({reason}); copy it here and set {variable}MODEL to its folder "
            f"or {variable}CACHE to the folder of downloaded models, or set {variable}DOWNLOAD=true"
        ) from error


def _limit_tokens(model: Any, asked: int | None, variable: str) -> int:
    """Set the number of tokens that a model reads of a text, by default its own limit; return 0 for none."""
    # RoBERTa models have two more positions than a multiple of 8, which are not usable.
    positions = (getattr(model.config, "max_position_embeddings", None) or UNBOUNDED) // 8 * 8
    if asked is not None and asked > positions:
        raise InvalidCall(
            f"the model reads {positions:,} tokens, less than the requested {asked:,}: "
            f"lower {variable}MAX_TOKENS"
        )
    tokens = asked or min(model.max_seq_length or UNBOUNDED, positions)
    if tokens >= UNBOUNDED:
        return 0
    model.max_seq_length = tokens
    return int(tokens)


def _commit_of(settings: ModelSettings) -> str:
    """Return the commit of a model in the hub's cache, "" if it is not there."""
    from huggingface_hub import try_to_load_from_cache

    # sentence-transformers resolves a name without an owner in its own group.
    name = settings.model if "/" in settings.model else f"sentence-transformers/{settings.model}"
    folder = settings.cache or os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    for file in ("modules.json", "config.json"):
        found = try_to_load_from_cache(name, file, cache_dir=folder, revision=settings.revision or None)
        if isinstance(found, str):
            return Path(found).parent.name
    return ""


def hash_of(folder: Path) -> str:
    """Return a hash of a model's files, 16 hexadecimal digits.

    Covers names and sizes, files of up to 4 MiB completely, and 4 MiB of each larger file from 256 places.
    This takes milliseconds instead of seconds for gigabytes of weights, and different training changes
    numbers everywhere. It is not a checksum against damage.
    """
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        if file.suffix not in MODEL_FILES or any(part.startswith(".") for part in name.parts):
            continue
        size = file.stat().st_size
        digest.update(f"{name.as_posix()}\0{size}\0".encode())
        with file.open("rb") as opened:
            for place in range(0, size, max(SAMPLE_BYTES, size // SAMPLES)):
                opened.seek(place)
                digest.update(opened.read(SAMPLE_BYTES))
    return digest.hexdigest()[:16]


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded, by U+FFFD."""
    return SURROGATE.sub("\ufffd", text)


def cut_into_batches(texts: Sequence[Any], batch_tokens: int, max_tokens: int = 0) -> Iterator[list[int]]:
    """Yield the positions of texts, or pairs of texts, in batches of similar length, the longest first.

    Args:
        texts: any texts without lone surrogates; their tokens are estimated.
        batch_tokens: limit of texts × tokens of the longest text; a longer text is a batch by itself.
        max_tokens: limit of tokens of a text; 0 for no limit.
    """
    sizes = (len("".join(text).encode()) for text in texts)
    lengths = [min(1 + size // BYTES_A_TOKEN, max_tokens or UNBOUNDED) for size in sizes]
    order: list[int] = np.argsort([-length for length in lengths], kind="stable").tolist()
    while order:
        count = max(1, batch_tokens // lengths[order[0]])
        yield order[:count]
        order = order[count:]
