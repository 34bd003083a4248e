"""Requests of chat programs for titles, tags and further questions, answered without a search.

Such a request contains or follows the conversation and names the output format. The wording changes between
versions, so at least two signs identify it; a reader's question has one at most. Open WebUI requests JSON
under headings, with the conversation between tags. LibreChat and LobeChat request a title as text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, create_model

from generator.llm import LanguageModel
from generator.model_step import ModelStep, constant
from generator.prompts import Prompt
from generator.request import Turn
from generator.tracing import Step
from indexer.corpora.papers import language_of

FEWEST_SIGNS = 2
# Characters of a request that are parsed, and that the model gets; the middle of a longer request is cut.
MOST_READ, MOST_CHARACTERS = 40_000, 12_000
LONGEST_TITLE, LONGEST_QUERY = 48, 300
NO_TITLE = {"ko": "새 대화", "en": "New conversation"}

HISTORY = re.compile(r"<chat_history>(.*)</chat_history>", re.DOTALL)
CONTEXT = re.compile(r"<context>.*</context>", re.DOTALL)  # documents that a chat program adds to a question
HEADING = re.compile(r"\A\s*#{1,4}\s*\W{0,2}task\b", re.IGNORECASE)
ASKED_KEY = re.compile(r"[{,]\s*\"(title|tags|follow_ups|queries|text|prompt)\"\s*:", re.IGNORECASE)
SAYS_JSON = re.compile(r"\bjson\b", re.IGNORECASE)
SAID_BY = re.compile(
    r"^\W{0,3}(user|human|ai|assistant|response)\W{0,2}:[ \t]*", re.IGNORECASE | re.MULTILINE
)
TITLE_OF_IT = re.compile(
    r"\btitle\b[^.?]{0,80}\b(?:conversation|chat)\b|\b(?:conversation|chat)\b.{0,120}?\btitle\b",
    re.IGNORECASE | re.DOTALL,
)
# Signs of a request for a title as text, besides a conversation in it: its size, and its form.
SIZE = re.compile(r"\b\d+[- ](word|character)", re.IGNORECASE)
ALONE = re.compile(
    r"\bonly\b[^.]{0,30}\btitle\b|\bno (?:punctuation|quotation)|\btitle case\b|\bdetected language\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """A request of a chat program for a text about a conversation, such as a title.

    `key` is the JSON key of the text: title, tags, follow_ups, queries, text (completion of typed text) or
    prompt (for an image).
    """

    key: str
    as_json: bool  # else a title as text
    instructions: str  # including any conversation in them
    conversation: tuple[Turn, ...]


def find_housekeeping(messages: Sequence[Turn]) -> Housekeeping | None:
    """Recognise a housekeeping request of a chat program; None for a reader's question."""
    if not messages or messages[-1].role == "assistant":
        return None
    system = "\n".join(message.text for message in messages[:-1] if message.role == "system")
    request = _cut_middle(f"{system}\n\n{messages[-1].text}".strip(), MOST_READ)
    instructions, carried = _split_request(CONTEXT.sub("", request))
    key = ASKED_KEY.search(instructions) if SAYS_JSON.search(instructions) else None
    signs = [bool(carried), bool(HEADING.search(instructions))] if key else []
    if not key and TITLE_OF_IT.search(instructions):
        signs = [bool(carried), bool(SIZE.search(instructions)), bool(ALONE.search(instructions))]
    if sum(signs) + bool(key) < FEWEST_SIGNS:
        return None
    earlier = tuple(turn for turn in messages[:-1] if turn.role != "system")
    name = key[1].lower() if key else "title"
    return Housekeeping(name, as_json=bool(key), instructions=request, conversation=carried or earlier)


def _cut_middle(text: str, longest: int) -> str:
    """Cut the middle of a long text; the instruction is at one of the ends."""
    return text if len(text) <= longest else f"{text[: longest // 2]} … {text[-longest // 2 :]}"


def _split_request(request: str) -> tuple[str, tuple[Turn, ...]]:
    """Split a request into instructions and the conversation between tags or after the instructions."""
    if history := HISTORY.search(request):
        return f"{request[: history.start()]}\n{request[history.end() :]}", _turns(history[1])
    turns = _turns(request)
    first = SAID_BY.search(request)
    return (request[: first.start()], turns) if first and len(turns) > 1 else (request, ())


def _turns(text: str) -> tuple[Turn, ...]:
    """Parse a conversation in which each turn starts with its speaker."""
    _, *parts = SAID_BY.split(text)
    return tuple(
        Turn("user" if speaker.lower() in {"user", "human"} else "assistant", said.strip())
        for speaker, said in zip(parts[::2], parts[1::2], strict=True)
    )


Stripped = Annotated[str, StringConstraints(strip_whitespace=True)]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Tag = Annotated[Stripped, Field(max_length=50)]
Query = Annotated[Stripped, Field(max_length=LONGEST_QUERY)]
# Value of each key in a reply; the limits match what chat programs show.
VALUES: dict[str, Any] = {
    "title": Title,
    "tags": Annotated[list[Tag], Field(max_length=8)],
    "follow_ups": Annotated[list[Query], Field(max_length=5)],
    "queries": Annotated[list[Query], Field(max_length=5)],
    "text": Annotated[Stripped, Field(max_length=500)],
    "prompt": Annotated[Stripped, Field(max_length=1_000)],
}


async def answer_housekeeping(asked: Housekeeping, model: LanguageModel | None) -> str:
    """Answer in the requested format with the model; without it, from the words of the conversation."""
    instructions = _cut_middle(asked.instructions, MOST_CHARACTERS)
    values: dict[str, Any] = {asked.key: (VALUES[asked.key], ...)}
    housekeeping: ModelStep[BaseModel, Any] = ModelStep(
        "housekeeping",
        Prompt.of_text("housekeeping", language_of(instructions), instructions),
        {},
        create_model(asked.key, **values),
        read=lambda reply: getattr(reply.value, asked.key),
        fallback="the conversation's words",
        otherwise=constant(_from_conversation(asked)),
        output=str,
    )
    step = Step(asked.key)
    with step.running():
        value = await housekeeping.run(step, model)
    return json.dumps({asked.key: value}, ensure_ascii=False) if asked.as_json else str(value)


def _from_conversation(asked: Housekeeping) -> str | list[str]:
    said = [" ".join(turn.text.split()) for turn in asked.conversation if turn.role == "user"] or [""]
    first, last = said[0], said[-1][:LONGEST_QUERY]
    if asked.key == "title":
        short = shorten(first, LONGEST_TITLE, placeholder="…") if " " in first else first[:LONGEST_TITLE]
        return short or NO_TITLE["ko" if language_of(asked.instructions) == "ko" else "en"]
    answers: dict[str, str | list[str]] = {"queries": [last] if last else [], "text": "", "prompt": last}
    return answers.get(asked.key, [])
