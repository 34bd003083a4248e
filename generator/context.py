"""Evidence that fits the model's context: passages shortened sentence by sentence, and told to be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from generator.errors import ContextExceeded, ContextTooSmall
from generator.llm import Count, LanguageModel, Limit, Message, at_most
from indexer.chunking import split_sentences
from indexer.schema import StoredPassage

LESS = 0.75  # of the tokens of a prompt that the server refused as too long


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage of which only the first `kept` of `of` characters go into the prompt."""

    passage_id: str
    kept: int
    of: int


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt that fits, what was cut for it, and how that is known."""

    messages: list[Message]
    cuts: tuple[Cut, ...]
    context_tokens: int | None  # None where nobody says: then nothing is cut
    said_by: str
    count: Count | None
    step: int = 0  # how many sentences are left out

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
        told = ", ".join(f"{cut.passage_id} to {cut.kept:,} of {cut.of:,} characters" for cut in self.cuts)
        size = f"{self.context_tokens:,} tokens" if self.context_tokens else "what the server takes"
        return f"passages shortened for the model, whose context holds {size}: {told}"


@dataclass(frozen=True, slots=True)
class Refused:
    """A prompt that the server found too long, and what it said."""

    prompt: Fitted
    error: ContextExceeded


class Evidence:
    """Passages in all the lengths they can be given in: each step drops the last sentence of the longest."""

    def __init__(self, passages: Sequence[StoredPassage]) -> None:
        self._passages = passages

    @cached_property
    def _steps(self) -> list[tuple[int, ...]]:
        """Work out the lengths at each step; a prompt that fits as it is never asks."""
        ends = [[end for _, end in split_sentences(one.text)] for one in self._passages]
        lengths = [len(one.text) for one in self._passages]
        steps = [tuple(lengths)]
        while True:
            shorter = [place for place, left in enumerate(ends) if len(left) > 1]
            if not shorter:
                return steps
            longest = max(shorter, key=lambda place: (lengths[place], -place))
            ends[longest].pop()
            lengths[longest] = ends[longest][-1]
            steps.append(tuple(lengths))

    @property
    def shortest(self) -> int:
        """The number of the last step: one sentence of each passage."""
        return len(self._steps) - 1

    def texts(self, step: int) -> list[str]:
        """Return title and text of each passage, cut as at that step; 0 is all of it."""
        return [
            f"{one.title}\n{one.text[:length]}"
            for one, length in zip(self._passages, self._lengths(step), strict=True)
        ]

    def _lengths(self, step: int) -> Sequence[int]:
        return self._steps[step] if step else [len(one.text) for one in self._passages]

    def cuts(self, step: int) -> tuple[Cut, ...]:
        """Return what is cut at that step."""
        return tuple(
            Cut(one.passage_id, length, len(one.text))
            for one, length in zip(self._passages, self._lengths(step), strict=True)
            if length < len(one.text)
        )


async def fit(
    passages: Sequence[StoredPassage],
    prompt: Callable[[Sequence[str]], list[Message]],
    model: LanguageModel,
    limit: Limit,
    refused: Refused | None = None,
) -> Fitted:
    """Shorten passages as little as lets `prompt` of them, and an answer, fit the model's context.

    `refused` is a prompt that the server did not take: this one is made smaller.

    Raises:
        ContextTooSmall: it does not fit, even with one sentence of each passage.
    """
    evidence = Evidence(passages)
    model.check()
    context = await model.context(limit)
    whole = prompt(evidence.texts(0))
    if context.tokens is None and refused is None:
        return Fitted(whole, (), None, context.said_by, None)
    counter = model.counter(limit)
    tokens, said_by = context.tokens, str(context.said_by)
    if refused is None:
        room = (tokens or 0) - model.settings.max_tokens
        if (bound := at_most(whole)).tokens <= room:
            return Fitted(whole, (), tokens, said_by, bound)
    else:
        tokens, said_by = refused.error.context_tokens or tokens, "refusal"
        if tokens is not None and tokens != refused.prompt.context_tokens:
            room = tokens - model.settings.max_tokens
        else:  # the size was known, and the count too low
            room = int(LESS * (await counter.count(refused.prompt.messages)).tokens)

    async def counted(step: int) -> Count:
        return await counter.count(prompt(evidence.texts(step)))

    low, high = refused.prompt.step + 1 if refused else 0, evidence.shortest
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
    return Fitted(prompt(evidence.texts(high)), evidence.cuts(high), tokens, said_by, best, high)
