"""Tiny models of the real classes with random weights, saved as sentence-transformers saves them."""

from collections.abc import Sequence
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram, WordPiece
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
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
SYLLABLES = "가나다라마바사아자차카타파하검색논문"


def tiny_gte(folder: Path, seed: int = 0, prompts: dict[str, str] | None = None) -> Path:
    """Make a model like mGTE: GteModel, an XLM-R style tokenizer, CLS pooling, normalised."""
    config = GteConfig(
        vocab_size=4 + 1 + len(LETTERS) + len(SYLLABLES),
        hidden_size=DIMENSIONS,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=POSITIONS,
    )
    torch.manual_seed(seed)
    bare = _saved(GteModel(config), _unigram(), folder / "bare")
    return _with_pooling(bare, folder / "model", "cls", prompts or {})


def tiny_bert(folder: Path, seed: int = 0) -> Path:
    """Make an encoder of BERT's kind with mean pooling and a dense layer behind it."""
    torch.manual_seed(seed)
    bare = _saved(BertModel(_bert_config()), _word_pieces(), folder / "bare")
    return _with_pooling(bare, folder / "model", "mean", {}, Dense(DIMENSIONS, 16))


def tiny_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """Make a re-ranker of BERT's kind."""
    torch.manual_seed(0)
    config = _bert_config()
    config.num_labels = labels
    bare = _saved(BertForSequenceClassification(config), _word_pieces(), folder / "bare")
    CrossEncoder(str(bare), device="cpu", local_files_only=True).save(str(folder / "model"))
    return folder / "model"


def tiny_entailment_model(folder: Path, labels: Sequence[str]) -> Path:
    """Make a model of natural language inference of BERT's kind, with these labels."""
    torch.manual_seed(0)
    config = _bert_config()
    config.num_labels = len(labels)
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: number for number, label in enumerate(labels)}
    bare = _saved(BertForSequenceClassification(config), _word_pieces(), folder / "bare")
    CrossEncoder(str(bare), device="cpu", local_files_only=True).save(str(folder / "model"))
    return folder / "model"


def _with_pooling(
    bare: Path, folder: Path, mode: str, prompts: dict[str, str], *further: torch.nn.Module
) -> Path:
    modules = [Transformer(str(bare)), Pooling(DIMENSIONS, mode), *further, Normalize()]
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(str(folder))
    return folder


def _saved(model, tokenizer: PreTrainedTokenizerFast, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _bert_config() -> BertConfig:
    return BertConfig(
        vocab_size=4 + 2 * (len(LETTERS) + len(SYLLABLES)),
        hidden_size=DIMENSIONS,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=POSITIONS,
    )


def _unigram() -> PreTrainedTokenizerFast:
    special = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    tokenizer = Tokenizer(
        Unigram([*special, *((sign, -3.0) for sign in "▁" + LETTERS + SYLLABLES)], unk_id=3)
    )
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=POSITIONS,
    )


def _word_pieces() -> PreTrainedTokenizerFast:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    pieces += [*LETTERS, *SYLLABLES, *(f"##{sign}" for sign in LETTERS + SYLLABLES)]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=POSITIONS,
    )
