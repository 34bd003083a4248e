"""Requests of chat programs for titles, tags and further questions, answered without a search.

Such a request contains or follows the conversation and names the output format. The wording changes between
versions, so at least two signs identify it; a reader's question has one at most. Open WebUI requests JSON
under headings, with the conversation between tags. LibreChat and LobeChat request a title as text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, create_model

from generator.llm import LanguageModel, Reply
from generator.model_step import ModelStep, constant
from generator.prompts import Prompt
from generator.request import Turn
from generator.tracing.steps import Step
from indexer.corpora.papers import language_of

FEWEST_SIGNS = 2
# Characters of a request that are parsed, and that the model gets; the middle of a longer request is cut.
MOST_READ, MOST_CHARACTERS = 40_000, 12_000
LONGEST_TITLE, LONGEST_QUERY = 48, 300
NO_TITLE = {"ko": "새 대화", "en": "New conversation"}

OPENING, CLOSING = "<chat_history>", "</chat_history>"
HEADING = re.compile(r"\A\s*#{1,4}\s*\W{0,2}task\b", re.IGNORECASE)
ASKED_KEY = re.compile(r"[{,]\s*\"(title|tags|follow_ups|queries|text|prompt)\"\s*:", re.IGNORECASE)
SAYS_JSON = re.compile(r"\bjson\b", re.IGNORECASE)
SAID_BY = re.compile(
    r"^\W{0,3}(user|human|ai|assistant|response)\W{0,2}:[ \t]*", re.IGNORECASE | re.MULTILINE
)
TITLE_OF_IT = re.compile(
    r"\btitle\b[^.?]{0,80}\b(conversation|chat)\b|\b(conversation|chat)\b.{0,120}?\btitle\b",
    re.IGNORECASE | re.DOTALL,
)
SIZE = re.compile(r"\b\d+[- ](word|character)", re.IGNORECASE)
ALONE = re.compile(
    r"\bonly\b[^.]{0,30}\btitle\b|\bno (punctuation|quotation)|\btitle case\b|\bdetected language\b",
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
    instructions, carried = _split_request(request)
    key = ASKED_KEY.search(instructions)
    if key and SAYS_JSON.search(instructions):
        signs, name = 1 + len(carried[:1]) + bool(HEADING.search(instructions)), key[1].lower()
    elif TITLE_OF_IT.search(instructions):
        signs, name = (
            sum(map(bool, (carried, SIZE.search(instructions), ALONE.search(instructions)))),
            "title",
        )
    else:
        return None
    if signs < FEWEST_SIGNS:
        return None
    earlier = tuple(turn for turn in messages[:-1] if turn.role != "system")
    return Housekeeping(name, as_json=bool(key), instructions=request, conversation=carried or earlier)


def _cut_middle(text: str, longest: int) -> str:
    """Cut the middle of a long text; the instruction is at one of the ends."""
    return text if len(text) <= longest else f"{text[: longest // 2]} … {text[-longest // 2 :]}"


def _split_request(request: str) -> tuple[str, tuple[Turn, ...]]:
    """Split a request into instructions and the conversation between tags or after the instructions."""
    begin, end = request.find(OPENING), request.rfind(CLOSING)
    if 0 <= begin < end:
        behind = request[end + len(CLOSING) :]
        return f"{request[:begin]}\n{behind}", _turns(request[begin + len(OPENING) : end])
    turns = _turns(request)
    first = SAID_BY.search(request)
    return (request[: first.start()], turns) if first and len(turns) > 1 else (request, ())


def _turns(text: str) -> tuple[Turn, ...]:
    """Parse a conversation in which each turn starts with its speaker."""
    marks = list(SAID_BY.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return tuple(
        Turn("user" if mark[1].lower() in {"user", "human"} else "assistant", text[mark.end() : end].strip())
        for mark, end in zip(marks, ends, strict=bool(marks))
    )


def _shortened(texts: list[str], *, longest: int) -> list[str]:
    return [text.strip()[:longest] for text in texts]


def _text(longest: int, least: int = 0) -> Any:
    return Annotated[str, StringConstraints(strip_whitespace=True, min_length=least, max_length=longest)]


def _texts(longest: int, most: int) -> Any:
    return Annotated[list[str], Field(max_length=most), AfterValidator(partial(_shortened, longest=longest))]


def _shape(key: str, held: Any) -> type[BaseModel]:
    return create_model(key, **{key: (held, ...)})  # type: ignore[call-overload,no-any-return]


# Reply schema of each key; the limits match what chat programs show.
SHAPES = {
    key: _shape(key, held)
    for key, held in {
        "title": _text(100, least=1),
        "tags": _texts(50, most=8),
        "follow_ups": _texts(LONGEST_QUERY, most=5),
        "queries": _texts(LONGEST_QUERY, most=5),
        "text": _text(500),
        "prompt": _text(1_000),
    }.items()
}


async def answer_housekeeping(asked: Housekeeping, model: LanguageModel | None) -> str:
    """Answer in the requested format with the model; without it, from the words of the conversation."""

    async def read(reply: Reply[BaseModel]) -> Any:
        return getattr(reply.value, asked.key)

    instructions = _cut_middle(asked.instructions, MOST_CHARACTERS)
    housekeeping = ModelStep(
        "housekeeping",
        Prompt.of_text("housekeeping", language_of(instructions), instructions),
        {},
        SHAPES[asked.key],
        read=read,
        fallback="the conversation's words",
        otherwise=constant(_from_conversation(asked)),
        output=str,
    )
    step = Step(asked.key)
    with step.running():
        value = await housekeeping.run(step, model)
    return json.dumps({asked.key: value}, ensure_ascii=False) if asked.as_json else str(value)


def _from_conversation(asked: Housekeeping) -> str | list[str]:
    said = [" ".join(turn.text.split()) for turn in asked.conversation if turn.role == "user"]
    first, last = (said[0], said[-1]) if said else ("", "")
    if asked.key == "title":
        short = shorten(first, LONGEST_TITLE, placeholder="…") if " " in first else first[:LONGEST_TITLE]
        return short or NO_TITLE["ko" if language_of(asked.instructions) == "ko" else "en"]
    answers: dict[str, str | list[str]] = {
        "queries": [last[:LONGEST_QUERY]] if last else [],
        "text": "",
        "prompt": last[:LONGEST_QUERY],
    }
    return answers.get(asked.key, [])
