"""Token counts of a prompt: by the server, by a local tokenizer, or an upper bound from its bytes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from generator.errors import TokenizerUnusable
from generator.llm.chat import Message

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CountedBy: TypeAlias = Literal["server", "tokenizer", "bytes"]

CountTokens: TypeAlias = Callable[[Sequence[Message]], Awaitable["Count"]]

# Added by a chat template: turn markers and its own system prompt.
TEMPLATE_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens of a prompt and their counter; exact by the server, else an upper bound."""

    tokens: int
    counted_by: CountedBy


def at_most(messages: Sequence[Message]) -> Count:
    """Return an upper bound: no tokenizer in use makes more than one token per UTF-8 byte."""
    size = sum(len(message["content"].encode("utf-8", "replace")) for message in messages)
    return Count(size + TEMPLATE_TOKENS, "bytes")


def count_locally(tokenizer: "Tokenizer", messages: Sequence[Message]) -> Count:
    """Count with a local tokenizer and add the tokens of a chat template."""
    texts = [message["content"].encode("utf-8", "replace").decode() for message in messages]
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    return Count(sum(len(text.ids) for text in encoded) + TEMPLATE_TOKENS, "tokenizer")


def load_tokenizer(path: Path) -> "Tokenizer":
    """Load a tokenizer.json, or the one in a folder.

    Raises:
        TokenizerUnusable: the file is missing or unreadable, or the library is missing.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise TokenizerUnusable(
            "SHRAG_LLM__TOKENIZER needs the library tokenizers: make install-models installs it."
        ) from None
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise TokenizerUnusable(f"SHRAG_LLM__TOKENIZER: there is no file {file}.")
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:
        raise TokenizerUnusable(
            f"SHRAG_LLM__TOKENIZER: {file} cannot be read: {error}. Use the model's tokenizer.json."
        ) from error
