"""Prompts that fit the model's context: token counts, the context's size, and passages shortened to fit.

Tokens are counted by the server, a local tokenizer or an upper bound. `max_model_len` in /models and the
endpoint /tokenize are vLLM's; other servers have neither.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeGuard

from base.extras import extra_remedy
from base.notes import Note
from generator.errors import ContextExceeded, ContextTooSmall, TokenizerUnusable
from generator.llm.client import Limit
from indexer.corpora.chunking import split_sentences
from indexer.files.schema import StoredPassage

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from generator.llm.model import LanguageModel, Message

TEMPLATE_TOKENS = 256  # added by a chat template: turn markers and its own system prompt
ANSWER_S = 10.0  # for requests that normally take milliseconds
MOST_TOKENS = 2**40
NO_SUCH_ADDRESS = frozenset({404, 405, 501})
RETRY_SHARE = 0.75  # share of the tokens of a prompt that the server refused as too long


class Count(NamedTuple):
    """Tokens of a prompt and their counter; exact by the server, else an upper bound."""

    tokens: int
    counted_by: Literal["server", "tokenizer", "bytes"]


class Context(NamedTuple):
    """Tokens of prompt and answer together, None if unknown, and the source of this size."""

    tokens: int | None
    said_by: Literal["setting", "server", "nobody", "refusal"]


NOBODY = Context(None, "nobody")


def at_most(messages: "Sequence[Message]") -> Count:
    """Return an upper bound: no tokenizer in use makes more than one token per UTF-8 byte."""
    size = sum(len(message["content"].encode("utf-8", "replace")) for message in messages)
    return Count(size + TEMPLATE_TOKENS, "bytes")


def count_locally(tokenizer: "Tokenizer", messages: "Sequence[Message]") -> Count:
    """Count the tokens of messages by a tokenizer of this machine."""
    texts = [message["content"].encode("utf-8", "replace").decode() for message in messages]
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    return Count(sum(len(text.ids) for text in encoded) + TEMPLATE_TOKENS, "tokenizer")


def load_tokenizer(path: Path) -> "Tokenizer":
    """Load a tokenizer.json, or the one in a folder; raises TokenizerUnusable."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise TokenizerUnusable(
            f"SHRAG_LLM__TOKENIZER needs the library tokenizers: {extra_remedy('models')}."
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


def is_count(value: Any) -> TypeGuard[int]:
    """Check whether a value is a plausible number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS


# Shortened passages


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt that fits, its size and that of the context, and its shortened passages.

    `cuts` has the id of each shortened passage with its characters in the prompt and in all. `level` is the
    number of dropped sentences; nothing is dropped if the context's size is unknown.
    """

    messages: "list[Message]"
    context: Context
    count: Count | None = None
    cuts: tuple[tuple[str, int, int], ...] = ()
    level: int = 0

    def as_record(self) -> dict[str, Any]:
        """Return the prompt's sizes and cuts as JSON, for a trace."""
        return {
            "tokens": self.context.tokens,
            "said_by": self.context.said_by,
            "prompt_tokens": self.count and self.count.tokens,
            "counted_by": self.count and self.count.counted_by,
            "shortened": [
                {"passage_id": passage_id, "characters": kept, "of": of} for passage_id, kept, of in self.cuts
            ],
        }

    @property
    def note(self) -> str:
        """Note on the shortened passages; "" if there are none."""
        cuts = ", ".join(
            f"{passage_id} to {kept:,} of {of:,} characters" for passage_id, kept, of in self.cuts
        )
        if cuts and self.context.tokens:
            return Note("passages_shortened_to", tokens=self.context.tokens, cuts=cuts)
        return Note("passages_shortened", cuts=cuts) if cuts else ""


async def fit(
    passages: Sequence[StoredPassage],
    prompt: "Callable[[Sequence[str]], list[Message]]",
    model: "LanguageModel",
    limit: Limit,
    refused: tuple[FittedPrompt, ContextExceeded] | None = None,
) -> FittedPrompt:
    """Shorten passages as little as possible so that their prompt and an answer fit the model's context.

    `prompt` makes the messages from the texts of the passages. After the server has refused a prompt
    (`refused`), the new prompt is smaller.

    Raises:
        ContextTooSmall: the prompt does not fit, even with one sentence of each passage.
    """
    model.check()
    context, for_answer, first = await model.context(limit), model.settings.max_tokens, 0
    if refused is None:
        whole = prompt(passage_texts(passages))
        bound = at_most(whole)
        if context.tokens is None or bound.tokens <= context.tokens - for_answer:
            return FittedPrompt(whole, context, bound if context.tokens else None)
        room = context.tokens - for_answer
    else:
        earlier, error = refused
        size = error.context_tokens or context.tokens
        if size is not None and size != earlier.context.tokens:
            room = size - for_answer
        else:  # the context size was right, and the token count too low
            room = int(RETRY_SHARE * (await model.count(earlier.messages, limit)).tokens)
        first, context = earlier.level + 1, Context(size, "refusal")

    levels = await asyncio.to_thread(shortened_lengths, passages)
    counts: dict[int, Count] = {}

    async def fits(level: int) -> bool:
        counts[level] = await model.count(prompt(passage_texts(passages, levels[level])), limit)
        return counts[level].tokens <= room

    low, high = first, len(levels) - 1  # the search relies on longer prompts having more tokens
    found = await fits(high) and high >= first
    while found and low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if await fits(middle) else (middle + 1, high)
    count, kept = counts[high], levels[high]
    if not found:
        size_text = f"{context.tokens:,} tokens" if context.tokens else "smaller than the prompt"
        raise ContextTooSmall(
            f"the shortest prompt has {count.tokens:,} tokens (counted by {count.counted_by}), and there is "
            f"room for {max(room, 0):,}: the context is {size_text}, and {for_answer:,} tokens are reserved "
            "for the answer. Lower SHRAG_LLM__MAX_TOKENS, or configure a longer context at the server."
        )
    cuts = tuple(
        (passage.passage_id, length, len(passage.text))
        for passage, length in zip(passages, kept, strict=True)
        if length < len(passage.text)
    )
    return FittedPrompt(prompt(passage_texts(passages, kept)), context, count, cuts, high)


def shortened_lengths(passages: Sequence[StoredPassage]) -> list[tuple[int, ...]]:
    """Return the number of characters kept of each passage, for each level of shortening.

    Level 0 keeps all. Each level drops the last sentence of the longest remaining passage (the first of
    equals); the last level keeps one sentence of each.
    """
    ends = [[end for _, end in split_sentences(passage.text)] for passage in passages]
    lengths = [len(passage.text) for passage in passages]
    levels = [tuple(lengths)]
    while shorter := [place for place, left in enumerate(ends) if len(left) > 1]:
        longest = max(shorter, key=lambda place: (lengths[place], -place))
        ends[longest].pop()
        lengths[longest] = ends[longest][-1]
        levels.append(tuple(lengths))
    return levels


def passage_texts(
    passages: Sequence[StoredPassage], lengths: Sequence[int | None] | None = None
) -> list[str]:
    """Return title, journal, year and text of each passage, the texts cut to `lengths` if given."""
    cut = zip(passages, lengths or [None] * len(passages), strict=True)
    return [f"{_heading(passage)}\n{passage.text[:length]}" for passage, length in cut]


def _heading(passage: StoredPassage) -> str:
    origin = ", ".join(filter(None, (passage.journal, str(passage.year or ""))))
    return f"{passage.title} ({origin})" if origin else passage.title
