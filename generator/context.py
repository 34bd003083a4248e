"""Evidence that fits the model's context: passages shortened by whole sentences, and a record of the cuts."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from generator.errors import ContextExceeded, ContextTooSmall
from generator.llm import Count, LanguageModel, Limit, Message, at_most
from indexer.chunking import split_sentences
from indexer.schema import StoredPassage

RETRY_SHARE = 0.75  # of the tokens of a prompt that the server refused as too long


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage of which only the first `kept` of `of` characters go into the prompt."""

    passage_id: str
    kept: int
    of: int


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt that fits, what was cut for it, and how that is known."""

    messages: list[Message]
    cuts: tuple[Cut, ...]
    context_tokens: int | None  # None where nobody says: then nothing is cut
    said_by: str
    count: Count | None
    level: int = 0  # how many sentences are left out

    def as_record(self) -> dict[str, Any]:
        """Return it as JSON, for a trace."""
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
        """What was cut, for a person; "" where nothing was."""
        if not self.cuts:
            return ""
        cuts = ", ".join(f"{cut.passage_id} to {cut.kept:,} of {cut.of:,} characters" for cut in self.cuts)
        size = f"{self.context_tokens:,} tokens" if self.context_tokens else "what the server takes"
        return f"passages shortened for the model, whose context holds {size}: {cuts}"


@dataclass(frozen=True, slots=True)
class RefusedPrompt:
    """A prompt that the server found too long, and what it said."""

    prompt: FittedPrompt
    error: ContextExceeded


def shortened_lengths(passages: Sequence[StoredPassage]) -> list[tuple[int, ...]]:
    """Return the characters kept of each passage, level by level: all of them, then ever fewer.

    Each level drops the last sentence of what is the longest passage by then, the first of equals; the last
    level keeps one sentence of each.
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
    """Shorten passages as little as lets `prompt` of them, and an answer, fit the model's context.

    `refused` is a prompt that the server did not take: this one is made smaller.

    Raises:
        ContextTooSmall: it does not fit, even with one sentence of each passage.
    """

    async def messages_of(lengths: Sequence[int]) -> list[Message]:
        return await asyncio.to_thread(lambda: prompt(passage_texts(passages, lengths)))

    model.check()
    context = await model.context(limit)
    whole = await messages_of([len(passage.text) for passage in passages])
    if context.tokens is None and refused is None:
        return FittedPrompt(whole, (), None, context.said_by, None)
    count_tokens = model.counter(limit)
    tokens, said_by = context.tokens, str(context.said_by)
    if refused is None:
        room = (tokens or 0) - model.settings.max_tokens
        if (bound := at_most(whole)).tokens <= room:
            return FittedPrompt(whole, (), tokens, said_by, bound)
    else:
        tokens, said_by = refused.error.context_tokens or tokens, "refusal"
        if tokens is not None and tokens != refused.prompt.context_tokens:
            room = tokens - model.settings.max_tokens
        else:  # the size was known, and the count too low
            room = int(RETRY_SHARE * (await count_tokens(refused.prompt.messages)).tokens)

    levels = await asyncio.to_thread(shortened_lengths, passages)

    async def counted(level: int) -> Count:
        return await count_tokens(await messages_of(levels[level]))

    low, high = refused.prompt.level + 1 if refused else 0, len(levels) - 1
    best = await counted(high)
    if best.tokens > room or low > high:
        size = f"{tokens:,}" if tokens else "fewer than the server was sent"
        raise ContextTooSmall(
            f"the shortest prompt has {best.tokens:,} tokens (counted by {best.counted_by}), and there is "
            f"room for {max(room, 0):,}: the context holds {size}, and {model.settings.max_tokens:,} are "
            "kept for the answer. Lower SHRAG_LLM__MAX_TOKENS, or let the server take longer contexts."
        )
    while low < high:  # longer prompts never have fewer tokens
        middle = (low + high) // 2
        count = await counted(middle)
        if count.tokens <= room:
            high, best = middle, count
        else:
            low = middle + 1
    cuts = tuple(
        Cut(passage.passage_id, length, len(passage.text))
        for passage, length in zip(passages, levels[high], strict=True)
        if length < len(passage.text)
    )
    return FittedPrompt(await messages_of(levels[high]), cuts, tokens, said_by, best, high)
