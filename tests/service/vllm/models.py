"""A tiny model with random weights, made when a test wants it: no weights come from anywhere.

It is the real architecture at a small size, with a tokenizer learnt from the sample corpus, so that a server
loads and runs it as it would a model that can speak.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.indexer.made_corpora import ROOT

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

WORDS = 1_024  # of the vocabulary: bytes, and what the sample writes often
CONTEXT = 16_384
DIMENSIONS = 64

PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
# As Qwen3's own: where `enable_thinking` is false, an empty thought stands before the answer.
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
    "{% endif %}"
)
# A random model would fill every string to its last allowed character; these make its JSON short. They are
# added to its logits, of which the largest is about 2.5.
LEANINGS = {'"': 2.5, "{": 2.0, "]": 1.0, "}": 2.0, ",": -2.0, END: 2.0}
UNTRUE = frozenset({"f", "fa", "fal", "fals", "false"})  # it would abstain half the time
SPACES = frozenset("ĠĊĉč")  # as the tokenizer writes them; between the parts of JSON they could go on
NEVER = -50.0
ALWAYS = 8.0  # the one feature that every token has alike, which the leanings hang on
SHARE = 5.3  # about what is left of it before the last layer


def write_chat_model(folder: Path) -> Path:
    """Write a random Qwen3 of 64 dimensions and two layers, which answers in nonsense; return the folder."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = _byte_level_tokenizer()
    vocabulary = tokenizer.get_vocab()
    torch.manual_seed(7)
    shape = Qwen3Config(
        vocab_size=len(vocabulary),
        hidden_size=DIMENSIONS,
        intermediate_size=2 * DIMENSIONS,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=vocabulary[END],
        pad_token_id=vocabulary[PAD],
        initializer_range=0.1,
    )
    model = Qwen3ForCausalLM(shape)
    leanings = LEANINGS | {
        piece: NEVER for piece in vocabulary if piece in UNTRUE or SPACES.issuperset(piece)
    }
    with torch.no_grad():
        features, logits = model.model.embed_tokens.weight, model.lm_head.weight
        features.normal_()
        features[:, 0] = ALWAYS
        logits.normal_(std=DIMENSIONS**-0.5)
        logits[:, 0] = 0
        for piece, leaning in leanings.items():
            logits[vocabulary[piece], 0] = leaning / SHARE
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _byte_level_tokenizer() -> "PreTrainedTokenizerFast":
    """Learn a byte-level BPE, as Qwen's: any text can be written with it, Korean too."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    learnt = Tokenizer(models.BPE())
    learnt.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learnt.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special: list[Any] = [PAD, START, END]
    learnt.train_from_iterator(
        (ROOT / "sample" / "papers.jsonl").read_text(encoding="utf-8").splitlines(),
        trainers.BpeTrainer(
            vocab_size=WORDS, special_tokens=special, initial_alphabet=alphabet, show_progress=False
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=learnt, eos_token=END, pad_token=PAD, model_max_length=CONTEXT
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer
