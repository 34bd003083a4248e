"""Running a model of sentence-transformers on texts or pairs of texts, through the batch queue.

Splits `encode_query`, `encode_document` and `predict` of the library into two steps: `preprocess` for many
texts without padding, and the model for batches limited by their number of tokens.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.encoders import Progress
from indexer.encoders.arrays import Vectors
from indexer.encoders.batching import (
    BatchQueue,
    OutOfMemory,
    Started,
    TextTooLarge,
    beginning,
    without_surrogates,
)
from indexer.errors import EncoderUnusable

if TYPE_CHECKING:
    import torch

Text: TypeAlias = str | tuple[str, str]

NOT_PADDED = {"text": {"padding": False}, "common": {"return_tensors": None}}
BYTES_A_TOKEN = 4  # roughly, for models that do not report tokens


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A tokenised text for a transformer."""

    columns: Mapping[str, Sequence[int]]  # input_ids, attention_mask, …: one number per token
    shared: Mapping[str, Any]  # common to all texts of a call

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.columns["input_ids"])


@dataclass(frozen=True, slots=True)
class Whole:
    """A text for a model without a transformer's tokens, such as one with static word vectors."""

    text: Text

    def __len__(self) -> int:
        """Return the approximate number of tokens."""
        return 1 + sum(len(part.encode()) for part in _parts(self.text)) // BYTES_A_TOKEN


class Runner:
    """Rows of numbers for texts. Thread-safe."""

    def __init__(self, model: Any, output: str, batch_tokens: int, max_tokens: int) -> None:
        """Create a runner.

        Args:
            model: a SentenceTransformer or CrossEncoder.
            output: the key of the model's output: sentence_embedding, scores.
            batch_tokens: limit of tokens of a batch, padding included.
            max_tokens: limit of tokens of a text; 0 for no limit.
        """
        model.eval()
        self._model = model
        self._output = output
        self._batch_tokens = batch_tokens
        self._max_tokens = max_tokens
        self._lock = (
            threading.Lock()
        )  # a fast tokenizer cannot change its padding while another thread uses it

    def run(
        self,
        texts: Iterable[Text],
        *,
        prompt: str = "",
        task: str | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Vectors]:
        """Yield float32 rows in blocks, in the order of the texts.

        Raises:
            EncoderUnusable: the device has not enough memory for a single text.
        """
        queue: BatchQueue[Text, Tokens | Whole] = BatchQueue(
            tokenise=lambda window: self.tokenise(window, prompt, task),
            start=lambda items: self.start(items, prompt, task),
            batch_tokens=self._batch_tokens,
        )
        try:
            yield from queue.run(texts, progress)
        except TextTooLarge as error:
            raise EncoderUnusable(
                f"the device {self._model.device} has not enough memory for {error}: lower the setting "
                "MAX_TOKENS of the model, or run it on another device"
            ) from error

    def tokenise(self, texts: Sequence[Text], prompt: str, task: str | None) -> list[Tokens | Whole]:
        """Tokenise texts, truncated to the model's limit and without padding."""
        ready = [self._ready(text) for text in texts]
        try:
            with self._lock:
                read = dict(
                    self._model.preprocess(ready, prompt=prompt, processing_kwargs=NOT_PADDED, **_task(task))
                )
        except (TypeError, ValueError):  # not a transformer
            return [Whole(text) for text in ready]
        columns = {name: values for name, values in read.items() if isinstance(values, list)}
        if "input_ids" not in columns or "attention_mask" not in columns:
            return [Whole(text) for text in ready]
        shared = {name: value for name, value in read.items() if name not in columns}
        return [
            Tokens({name: values[row] for name, values in columns.items()}, shared)
            for row in range(len(ready))
        ]

    def start(self, items: Sequence[Tokens | Whole], prompt: str, task: str | None) -> Started:
        """Start a batch on the device.

        Raises:
            OutOfMemory: the device has not enough memory.
        """
        import torch

        with torch.inference_mode():
            try:
                features = self._features(items, prompt, task)
                rows = self._model(features, **_task(task))[self._output].float()
            except torch.OutOfMemoryError:
                raise OutOfMemory from None
        return lambda: _on_processor(rows)

    def _features(self, items: Sequence[Tokens | Whole], prompt: str, task: str | None) -> dict[str, Any]:
        import torch

        device = self._model.device
        read = [item for item in items if isinstance(item, Tokens)]
        if not read:
            texts = [item.text for item in items if isinstance(item, Whole)]
            with self._lock:
                features = dict(self._model.preprocess(texts, prompt=prompt, **_task(task)))
            return {
                name: value.to(device) if isinstance(value, torch.Tensor) else value
                for name, value in features.items()
            }
        tokenizer = self._model.tokenizer
        fillings = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
        left = tokenizer.padding_side == "left"
        columns = {
            name: padded([item.columns[name] for item in read], fillings.get(name, 0), left=left)
            for name in read[0].columns
        }
        return {
            **read[0].shared,
            **{name: torch.from_numpy(block).to(device) for name, block in columns.items()},
        }

    def _ready(self, text: Text) -> Text:
        if isinstance(text, str):
            return self._shortened(without_surrogates(text))
        first, second = map(self._shortened, map(without_surrogates, text))
        return first, second

    def _shortened(self, text: str) -> str:
        tokenizer = getattr(self._model, "tokenizer", None)
        if not self._max_tokens or getattr(tokenizer, "truncation_side", "") != "right":
            return text
        return beginning(text, self._max_tokens, self.count_tokens)

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a whole text."""
        with self._lock:
            return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])


def padded(rows: Sequence[Sequence[int]], filling: int, *, left: bool) -> NDArray[np.int64]:
    """Pad rows of different lengths to one array, on the right or on the left."""
    width = max(map(len, rows))
    block = np.full((len(rows), width), filling, np.int64)
    for number, row in enumerate(rows):
        block[number, width - len(row) if left else 0 : width if left else len(row)] = row
    return block


def _on_processor(rows: "torch.Tensor") -> Vectors:
    found: Vectors = rows.cpu().numpy()
    return found


def _task(task: str | None) -> dict[str, str]:
    return {"task": task} if task else {}


def _parts(text: Text) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else text
