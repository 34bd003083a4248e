"""Requests of chat programs for titles, tags, tools and further questions, answered without a search.

Their form tells them from a reader's question in any language: an instruction and then a conversation, in
tags with a demand for a JSON object, or with named speakers in alternation.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import shorten
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, create_model

from generator.llm import LanguageModel
from generator.model_step import ModelStep
from generator.prompts import Prompt
from generator.request import Turn
from generator.tracing import Step
from indexer.corpora.papers import language_of

# Characters of a request that are parsed, and that the model gets; the middle of a longer request is cut.
MOST_READ, MOST_CHARACTERS = 40_000, 12_000
LONGEST_TITLE, LONGEST_QUERY = 48, 300
NO_TITLE = {"ko": "새 대화", "en": "New conversation"}

HISTORY = re.compile(r"<chat_history>(.*)</chat_history>", re.DOTALL)
# Documents that a chat program adds to a question, on lines of their own, and the question beside them.
CONTEXT = re.compile(r"^[ \t]*<context>.*</context>[ \t]*$", re.DOTALL | re.MULTILINE)
QUERY = re.compile(r"<(user_query|query)>(.*?)</\1>", re.DOTALL)
QUOTED = re.compile(r"(\"{3}|`{3}).*?\1", re.DOTALL)
ASKED_KEY = re.compile(
    r"[{,]\s*\"(title|tags|follow_ups|queries|text|prompt|tool_calls)\"\s*:", re.IGNORECASE
)
SAID_BY = re.compile(
    r"^[^\w\n]{0,3}(user|human|ai|assistant|response|사용자|어시스턴트)\W{0,2}:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
READERS = {"user", "human", "사용자"}


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """A request of a chat program for a text about a conversation, such as a title.

    `key` is the key of the JSON object that it demands: title, tags, follow_ups, queries, text (completion of
    typed text), prompt (for an image) or tool_calls; None if it demands a title or a summary as plain text.
    """

    key: str | None
    instructions: str  # including the conversation in them
    conversation: tuple[Turn, ...]


def find_housekeeping(messages: Sequence[Turn]) -> Housekeeping | None:
    """Recognise a housekeeping request of a chat program; None for a reader's question."""
    if not messages or messages[-1].role == "assistant":
        return None
    system = "\n".join(message.text for message in messages[:-1] if message.role == "system")
    request = _cut_middle(f"{system}\n\n{messages[-1].text}".strip(), MOST_READ)
    text = QUOTED.sub("", CONTEXT.sub("", request))
    history = HISTORY.search(text)
    instructions = HISTORY.sub("\n", text) if history else SAID_BY.split(text, maxsplit=1)[0]
    conversation = _turns(history[1] if history else text)
    key = ASKED_KEY.search(instructions)
    is_request = key is not None or not (history or request.endswith(("?", "？")))
    if not history:  # the instruction is a paragraph; a heading above a list of groups is none
        alternates = all(one.role != other.role for one, other in pairwise(conversation))
        is_request &= "\n\n" in instructions.lstrip() and len(conversation) > 1 and alternates
    return Housekeeping(key and key[1].lower(), request, conversation) if is_request else None


def question_in(text: str) -> str:
    """Return the question of a message to which a chat program added documents; else the message.

    It is in tags beside the documents, behind them if the program's headings are before them, or around them.
    """
    documents = CONTEXT.search(text)
    if not documents:
        return text
    before, behind = text[: documents.start()].strip(), text[documents.end() :].strip()
    if query := QUERY.search(f"{before}\n{behind}"):
        return query[2].strip()
    return (behind if before.startswith("###") else f"{before}\n{behind}".strip()) or text


def _cut_middle(text: str, longest: int) -> str:
    """Cut the middle of a long text; the instruction is at one of the ends."""
    return text if len(text) <= longest else f"{text[: longest // 2]} … {text[-longest // 2 :]}"


def _turns(text: str) -> tuple[Turn, ...]:
    """Parse a conversation in which each turn starts with its speaker."""
    _, *parts = SAID_BY.split(text)
    return tuple(
        Turn("user" if speaker.lower() in READERS else "assistant", said.strip())
        for speaker, said in zip(parts[::2], parts[1::2], strict=True)
    )


Stripped = Annotated[str, StringConstraints(strip_whitespace=True)]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
FreeText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]
Tag = Annotated[Stripped, Field(max_length=50)]
Query = Annotated[Stripped, Field(max_length=LONGEST_QUERY)]
# Value of each key in a reply; the limits match what chat programs show.
VALUES: dict[str, Any] = {
    "reply": FreeText,  # of a request without a key
    "title": Title,
    "tags": Annotated[list[Tag], Field(max_length=8)],
    "follow_ups": Annotated[list[Query], Field(max_length=5)],
    "queries": Annotated[list[Query], Field(max_length=5)],
    "text": Annotated[Stripped, Field(max_length=500)],
    "prompt": Annotated[Stripped, Field(max_length=1_000)],
    "tool_calls": Annotated[list[dict[str, Any]], Field(max_length=5)],
}


async def answer_housekeeping(asked: Housekeeping, model: LanguageModel | None) -> str:
    """Answer in the requested format with the model; without it, from the words of the conversation."""
    instructions = _cut_middle(asked.instructions, MOST_CHARACTERS)
    field = asked.key or "reply"
    values: dict[str, Any] = {field: (VALUES[field], ...)}
    housekeeping: ModelStep[BaseModel, Any] = ModelStep(
        "housekeeping",
        Prompt.of_text("housekeeping", language_of(instructions), instructions),
        {},
        create_model(field, **values),
        read=lambda reply: getattr(reply.value, field),
        fallback="the conversation's words",
        output=str,
    )
    step = Step(field)
    with step.running():
        value = await housekeeping.run(step, model)
    if value is None:
        value = _from_conversation(asked)
    return json.dumps({asked.key: value}, ensure_ascii=False) if asked.key else str(value)


def _from_conversation(asked: Housekeeping) -> str | list[str]:
    said = [" ".join(turn.text.split()) for turn in asked.conversation if turn.role == "user"] or [""]
    first, last = said[0], said[-1][:LONGEST_QUERY]
    if not asked.key or asked.key == "title":
        short = shorten(first, LONGEST_TITLE, placeholder="…") if " " in first else first[:LONGEST_TITLE]
        return short or NO_TITLE["ko" if language_of(asked.instructions) == "ko" else "en"]
    answers: dict[str, str | list[str]] = {"queries": [last] if last else [], "text": "", "prompt": last}
    return answers.get(asked.key, [])
