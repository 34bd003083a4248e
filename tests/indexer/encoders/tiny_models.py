"""Tiny models of the real classes with random weights, saved as sentence-transformers saves them."""

from collections.abc import Sequence
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers.models import WordPiece
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    GteConfig,
    GteModel,
    PreTrainedTokenizerFast,
)

DIMENSIONS = 32
POSITIONS = 128
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789가나다라마바사아자차카타파하검색논문"
PIECES = [*MARKS, *CHARACTERS, *(f"##{character}" for character in CHARACTERS)]
SHAPE = {
    "vocab_size": len(PIECES),
    "hidden_size": DIMENSIONS,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": POSITIONS,
}


def tiny_gte(folder: Path, seed: int = 0, prompts: dict[str, str] | None = None) -> Path:
    """Make a model like mGTE: GteModel, CLS pooling, normalised."""
    torch.manual_seed(seed)
    return _with_pooling(GteModel(GteConfig(**SHAPE)), folder, "cls", prompts or {})


def tiny_bert(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    return _with_pooling(BertModel(BertConfig(**SHAPE)), folder, "mean", {}, Dense(DIMENSIONS, 16))


def tiny_cross_encoder(folder: Path, labels: int = 1) -> Path:
    return tiny_entailment_model(folder, [f"LABEL_{number}" for number in range(labels)])


def tiny_entailment_model(folder: Path, labels: Sequence[str]) -> Path:
    torch.manual_seed(0)
    names = dict(enumerate(labels))
    config = BertConfig(**SHAPE, id2label=names, label2id={name: number for number, name in names.items()})
    bare = _saved(BertForSequenceClassification(config), folder / "bare")
    CrossEncoder(str(bare), device="cpu", local_files_only=True).save(str(folder / "model"))
    return folder / "model"


def _with_pooling(model, folder: Path, mode: str, prompts: dict[str, str], *further: torch.nn.Module) -> Path:
    bare = _saved(model, folder / "bare")
    modules = [Transformer(str(bare)), Pooling(DIMENSIONS, mode), *further, Normalize()]
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(str(folder / "model"))
    return folder / "model"


def _saved(model, folder: Path) -> Path:
    """Save a model with a tokenizer of one token per character."""
    tokenizer = Tokenizer(
        WordPiece({piece: number for number, piece in enumerate(PIECES)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), MARKS, strict=True))
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=POSITIONS, **names).save_pretrained(
        folder
    )
    return folder
