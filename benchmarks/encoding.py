"""Encoding speed: a model of mGTE's size with random weights.

    python -m benchmarks.encoding [--device cuda] [--passages N] [--rounds N] [--json]

The speed of a model does not depend on its weights. The bar for passages of mixed lengths is relative to
passages of equal length, which need no padding, in the same run.
"""

import random
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

from benchmarks.figures import Figure, machine, report, rounds_option
from benchmarks.timing import seconds_of
from indexer.encoders.local import LocalEncoder
from indexer.options import json_option
from indexer.settings import EncoderSettings

PART = "encoding"
WORDS = 50_000
MARKS = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>"}
PASSAGE_TOKENS = 128
QUESTION = 12  # words
QUESTIONS = 10
BAR = 0.8
TERA = 1e12
# Dense bfloat16, from the manufacturers' data sheets.
PEAKS = {"H200": 989 * TERA, "H100": 989 * TERA, "A100": 312 * TERA, "L40S": 362 * TERA, "L4": 121 * TERA}


def make_model(folder: Path) -> Path:
    """Save a model with the shape of gte-multilingual-base, and a tokenizer with one token per word."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from tokenizers import Tokenizer, pre_tokenizers, processors
    from tokenizers.models import WordLevel
    from transformers import GteConfig, GteModel, PreTrainedTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    words = [*MARKS.values(), *(f"w{number}" for number in range(WORDS))]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, MARKS["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("</s>", 2), ("<s>", 0))
    config = GteConfig()
    GteModel(config).save_pretrained(folder / "bare")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=config.max_position_embeddings, **MARKS
    ).save_pretrained(folder / "bare")
    modules = [Transformer(str(folder / "bare")), Pooling(config.hidden_size, "cls"), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "model"), create_model_card=False)
    return folder / "model"


def texts_of(lengths: Sequence[int], seed: int = 0) -> list[str]:
    """Return texts with these numbers of tokens, including two end marks."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    return [" ".join(f"w{chance.randrange(WORDS)}" for _ in range(length - 2)) for length in lengths]


def mixed_lengths(count: int, seed: int = 0) -> list[int]:
    """Return lengths distributed like abstracts: half of them between about 90 and 220 tokens."""
    drawn = np.random.default_rng(seed).lognormal(mean=4.95, sigma=0.65, size=count)
    return [int(length) for length in np.clip(drawn, 8, 1_000)]


def operations(model: Any, lengths: Sequence[int]) -> float:
    """Return the floating-point operations for texts: two per weight and token, plus attention."""
    transformer = model.transformers_model
    embeddings = transformer.get_input_embeddings().weight.numel()
    weights = sum(parameter.numel() for parameter in transformer.parameters()) - embeddings
    shape = transformer.config
    attention = 4 * shape.num_hidden_layers * shape.hidden_size
    return float(sum(2 * weights * length + attention * length**2 for length in lengths))


def measure(device: str, passages: int, rounds: int, batch_tokens: int) -> list[Figure]:
    """Measure passages per second, a question, the share of the device's peak, and the queue."""
    with tempfile.TemporaryDirectory(prefix="shrag-encoder-") as folder:
        settings = EncoderSettings(
            provider="local", model=str(make_model(Path(folder))), device=device, batch_tokens=batch_tokens
        )
        encoder = LocalEncoder(settings)
    model = encoder.model
    encoder.encode_passages(texts_of([PASSAGE_TOKENS] * min(passages, 8), seed=1))  # warm-up

    even = [PASSAGE_TOKENS] * passages
    texts = texts_of(even)
    seconds = median(seconds_of(lambda: encoder.encode_passages(texts)) for _ in range(rounds))
    asked = texts_of([QUESTION + 2] * QUESTIONS, seed=2)
    latency = median(seconds_of(partial(encoder.encode_queries, [text])) for text in asked)
    figures = [
        Figure(PART, f"passages of {PASSAGE_TOKENS} tokens", passages / seconds, "/s", higher_is_better=True),
        Figure(PART, f"one question of {QUESTION} words, p50", 1_000 * latency, "ms"),
    ]
    done = operations(model, even) / seconds
    figures.append(Figure(PART, "operations", done / TERA, "TFLOP/s", higher_is_better=True))
    if (peak := _peak(model.device)) is not None:
        figures.append(Figure(PART, "share of the device's peak", done / peak, higher_is_better=True))
    mixed = mixed_lengths(passages)
    texts = texts_of(mixed)
    mixed_speed = sum(mixed) / median(
        seconds_of(lambda: encoder.encode_passages(texts)) for _ in range(rounds)
    )
    ratio = mixed_speed / (sum(even) / seconds)
    return [
        *figures,
        Figure(PART, "passages of mixed lengths", mixed_speed, "tokens/s", higher_is_better=True),
        Figure(PART, "mixed lengths : equal lengths, per token", ratio, "", BAR, higher_is_better=True),
    ]


def _peak(device: Any) -> float | None:
    if device.type != "cuda":
        return None
    import torch

    name = torch.cuda.get_device_name(device)
    return next((peak for part, peak in PEAKS.items() if part in name), None)


@click.command()
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda, cuda:1, …")
@click.option("--passages", type=click.IntRange(1), default=64, show_default=True)
@rounds_option(3)
@click.option("--batch-tokens", type=click.IntRange(128), default=16_384, show_default=True)
@json_option
def main(device: str, passages: int, rounds: int, batch_tokens: int, *, as_json: bool) -> None:
    """Measure an encoder of mGTE's size with random weights."""
    facts = machine()
    figures = measure(device, passages, rounds, batch_tokens)
    report(figures, facts, as_json=as_json)


if __name__ == "__main__":
    main()
