"""Passages of a prompt, shortened in proportion so that prompt and answer fit the model's context."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from base.notes import Note
from generator.errors import ContextTooSmall
from indexer.corpora.chunking import split_sentences
from indexer.files.schema import StoredPassage

if TYPE_CHECKING:
    from generator.llm.model import Message

BYTES_A_TOKEN = 3  # for an estimate that is high for English and for Korean
REFUSED_SHARE = 0.4  # of the passages of a prompt that the server refused as too long, in the next one
LEAST_SHARE = 0.05  # of the passages, in a prompt that is worth an answer


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt with its shortened passages: their ids, with the characters in the prompt and in all."""

    messages: "list[Message]"
    context: int | None  # tokens of prompt and answer; None if unknown
    cuts: tuple[tuple[str, int, int], ...] = ()

    def as_record(self) -> dict[str, Any]:
        """Return the context's size and the cuts as JSON, for a trace."""
        cuts = [
            {"passage_id": passage_id, "characters": kept, "of": of} for passage_id, kept, of in self.cuts
        ]
        return {"tokens": self.context, "shortened": cuts}

    @property
    def note(self) -> str:
        """Note on the shortened passages; "" if there are none."""
        cuts = ", ".join(
            f"{passage_id} to {kept:,} of {of:,} characters" for passage_id, kept, of in self.cuts
        )
        if cuts and self.context:
            return Note("passages_shortened_to", tokens=self.context, cuts=cuts)
        return Note("passages_shortened", cuts=cuts) if cuts else ""


def estimated_tokens(messages: "Sequence[Message]") -> int:
    """Estimate the tokens of a prompt."""
    return sum(len(message["content"].encode("utf-8", "replace")) for message in messages) // BYTES_A_TOKEN


def fit(
    passages: Sequence[StoredPassage],
    prompt: "Callable[[Sequence[str]], list[Message]]",
    context: int | None,
    room: int | None,
    most: float = 1.0,
) -> FittedPrompt:
    """Shorten all passages by the same share, to whole sentences, so that the prompt has `room` tokens.

    Args:
        passages: the passages of the prompt.
        prompt: makes the messages from the texts of the passages.
        context: tokens of the model's context, for trace and note.
        room: tokens of the prompt; None is without a limit.
        most: the largest share of the passages.

    Raises:
        ContextTooSmall: the prompt does not fit, even with little of each passage.
    """
    whole = prompt(passage_texts(passages))
    size = estimated_tokens(whole)
    if room is None:
        room = size
    if size <= room and most == 1:
        return FittedPrompt(whole, context)
    frame = estimated_tokens(prompt(passage_texts(passages, [0] * len(passages))))
    share = min(most, (room - frame) / max(1, size - frame))
    if share < LEAST_SHARE:
        raise ContextTooSmall(
            f"the prompt is longer than the model's context: without passages it has about {frame:,} tokens, "
            f"and there is room for {max(room, 0):,}. Lower SHRAG_LLM__MAX_TOKENS, or configure a longer "
            "context at the server.",
            attempts=0,
        )
    lengths = [_whole_sentences(passage.text, int(share * len(passage.text))) for passage in passages]
    cuts = tuple(
        (passage.passage_id, length, len(passage.text))
        for passage, length in zip(passages, lengths, strict=True)
        if length < len(passage.text)
    )
    return FittedPrompt(prompt(passage_texts(passages, lengths)), context, cuts)


def _whole_sentences(text: str, most: int) -> int:
    """Return the length of the sentences within the first `most` characters; `most` if not even one is."""
    ends = [end for _, end in split_sentences(text) if end <= most]
    return ends[-1] if ends else most


def passage_texts(passages: Sequence[StoredPassage], lengths: Sequence[int] | None = None) -> list[str]:
    """Return title, journal, year and text of each passage, the texts cut to `lengths` if given."""
    texts = []
    for number, passage in enumerate(passages):
        origin = ", ".join(filter(None, (passage.journal, str(passage.year or ""))))
        heading = f"{passage.title} ({origin})" if origin else passage.title
        texts.append(f"{heading}\n{passage.text[: lengths[number] if lengths else None]}")
    return texts
