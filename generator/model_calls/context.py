"""Prompts that fit the model's context, with passages shortened by whole sentences."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from generator.errors import ContextExceeded, ContextTooSmall
from generator.llm import Count, LanguageModel, Limit, Message, at_most
from indexer.corpora.chunking import split_sentences
from indexer.files.schema import StoredPassage

RETRY_SHARE = 0.75  # share of the tokens of a prompt that the server refused as too long


@dataclass(frozen=True, slots=True)
class Cut:
    """A shortened passage: the prompt contains the first `kept` of `of` characters."""

    passage_id: str
    kept: int
    of: int


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt that fits, its shortened passages, its size and the size of the context.

    `said_by` and `count.counted_by` name the sources of the sizes.
    """

    messages: list[Message]
    cuts: tuple[Cut, ...]
    context_tokens: int | None  # None if unknown; then nothing is shortened
    said_by: str
    count: Count | None
    level: int = 0  # number of dropped sentences

    def as_record(self) -> dict[str, Any]:
        """Return the prompt's sizes and cuts as JSON, for a trace."""
        return {
            "tokens": self.context_tokens,
            "said_by": self.said_by,
            "prompt_tokens": self.count.tokens if self.count else None,
            "counted_by": self.count.counted_by if self.count else None,
            "shortened": [
                {"passage_id": cut.passage_id, "characters": cut.kept, "of": cut.of} for cut in self.cuts
            ],
        }

    @property
    def note(self) -> str:
        """Note on the shortened passages; "" if there are none."""
        if not self.cuts:
            return ""
        cuts = ", ".join(f"{cut.passage_id} to {cut.kept:,} of {cut.of:,} characters" for cut in self.cuts)
        size = f" of {self.context_tokens:,} tokens" if self.context_tokens else ""
        return f"passages shortened to fit the model's context{size}: {cuts}"


@dataclass(frozen=True, slots=True)
class RefusedPrompt:
    """A prompt that the server refused as too long, and the error."""

    prompt: FittedPrompt
    error: ContextExceeded


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


def passage_texts(passages: Sequence[StoredPassage], lengths: Sequence[int]) -> list[str]:
    """Return title and text of each passage, cut to these lengths."""
    pairs = zip(passages, lengths, strict=True)
    return [f"{passage.title}\n{passage.text[:length]}" for passage, length in pairs]


async def fit(
    passages: Sequence[StoredPassage],
    prompt: Callable[[Sequence[str]], list[Message]],
    model: LanguageModel,
    limit: Limit,
    refused: RefusedPrompt | None = None,
) -> FittedPrompt:
    """Shorten passages as little as possible so that their prompt and an answer fit the model's context.

    After the server has refused a prompt (`refused`), the new prompt is smaller.

    Raises:
        ContextTooSmall: the prompt does not fit, even with one sentence of each passage.
    """

    async def messages_of(lengths: Sequence[int]) -> list[Message]:
        return await asyncio.to_thread(lambda: prompt(passage_texts(passages, lengths)))

    model.check()
    context = await model.context(limit)
    tokens, said_by, first = context.tokens, str(context.said_by), 0
    if refused is None:
        whole = await messages_of([len(passage.text) for passage in passages])
        if tokens is None:
            return FittedPrompt(whole, (), None, context.said_by, None)
        room = tokens - model.settings.max_tokens
        if (bound := at_most(whole)).tokens <= room:
            return FittedPrompt(whole, (), tokens, said_by, bound)
    else:
        tokens, said_by, first = refused.error.context_tokens or tokens, "refusal", refused.prompt.level + 1
        room = await _room_after(refused, tokens, model, limit)

    count_tokens = model.counter(limit)
    levels = await asyncio.to_thread(shortened_lengths, passages)

    async def counted(level: int) -> Count:
        return await count_tokens(await messages_of(levels[level]))

    level, count = await _least_shortened(counted, first, len(levels) - 1, room)
    if count.tokens > room or level < first:
        raise _too_small(count, room, tokens, model.settings.max_tokens)
    cuts = _cuts(passages, levels[level])
    return FittedPrompt(await messages_of(levels[level]), cuts, tokens, said_by, count, level)


async def _room_after(refused: RefusedPrompt, tokens: int | None, model: LanguageModel, limit: Limit) -> int:
    """Return the maximum tokens of a prompt after the server refused one."""
    if tokens is not None and tokens != refused.prompt.context_tokens:
        return tokens - model.settings.max_tokens
    # The context size was right, and the token count too low.
    return int(RETRY_SHARE * (await model.counter(limit)(refused.prompt.messages)).tokens)


async def _least_shortened(
    counted: Callable[[int], Awaitable[Count]], low: int, high: int, room: int
) -> tuple[int, Count]:
    """Return the first level from `low` to `high` that fits, else `high`, and its tokens.

    The binary search relies on longer prompts having more tokens.
    """
    best = await counted(high)
    while best.tokens <= room and low < high:
        middle = (low + high) // 2
        count = await counted(middle)
        if count.tokens <= room:
            high, best = middle, count
        else:
            low = middle + 1
    return high, best


def _cuts(passages: Sequence[StoredPassage], lengths: Sequence[int]) -> tuple[Cut, ...]:
    return tuple(
        Cut(passage.passage_id, length, len(passage.text))
        for passage, length in zip(passages, lengths, strict=True)
        if length < len(passage.text)
    )


def _too_small(shortest: Count, room: int, tokens: int | None, for_answer: int) -> ContextTooSmall:
    size = f"{tokens:,} tokens" if tokens else "smaller than the prompt"
    return ContextTooSmall(
        f"the shortest prompt has {shortest.tokens:,} tokens (counted by {shortest.counted_by}), and there "
        f"is room for {max(room, 0):,}: the context is {size}, and {for_answer:,} tokens are "
        "reserved for the answer. Lower SHRAG_LLM__MAX_TOKENS, or configure a longer context at the server."
    )
