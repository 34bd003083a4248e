"""Requests of chat programs for titles, tags, tools and further questions, answered without a search.

Their form tells them from a reader's question in any language: they demand a JSON object or show emoji to
choose from, contain the conversation, or stand below headings, and ask nothing themselves.
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

# Characters of a request that are parsed, and that the model gets; the middle of a longer request is cut.
MOST_READ, MOST_CHARACTERS = 40_000, 12_000
LONGEST_TITLE, LONGEST_QUERY = 48, 300
NO_TITLE = {"ko": "새 대화", "en": "New conversation"}

HISTORY = re.compile(r"<chat_history>(.*)</chat_history>", re.DOTALL)
CONTEXT = re.compile(r"<context>.*</context>", re.DOTALL)  # documents that a chat program adds to a question
QUERY = re.compile(r"<(user_query|query)>(.*?)</\1>", re.DOTALL)  # the question beside them
QUOTED = re.compile(r"(\"{3}|`{3}).*?\1", re.DOTALL)
HEADING = re.compile(r"\A\s*#{1,4}\s*\S")
ASKED_KEY = re.compile(
    r"[{,]\s*\"(title|tags|follow_ups|queries|text|prompt|tool_calls)\"\s*:", re.IGNORECASE
)
SAID_BY = re.compile(
    r"^\W{0,3}(user|human|ai|assistant|response|사용자|어시스턴트)\W{0,2}:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
READERS = {"user", "human", "사용자"}
EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
FEWEST_EMOJI = 3  # different ones that a request shows


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """A request of a chat program for a text about a conversation, such as a title.

    `key` is the JSON key of the text: title, tags, follow_ups, queries, text (completion of typed text),
    prompt (for an image) or tool_calls.
    """

    key: str
    as_json: bool  # else a title, a summary or an emoji as text
    instructions: str  # including any conversation in them
    conversation: tuple[Turn, ...]


def find_housekeeping(messages: Sequence[Turn]) -> Housekeeping | None:
    """Recognise a housekeeping request of a chat program; None for a reader's question."""
    if not messages or messages[-1].role == "assistant":
        return None
    system = "\n".join(message.text for message in messages[:-1] if message.role == "system")
    request = _cut_middle(f"{system}\n\n{messages[-1].text}".strip(), MOST_READ)
    instructions, carried = _split_request(QUOTED.sub("", CONTEXT.sub("", request)))
    key = ASKED_KEY.search(instructions)
    asks = instructions.rstrip().endswith(("?", "？")) or request.endswith(("?", "？"))
    if key:
        is_request = bool(carried or HEADING.match(instructions) or (ASKED_KEY.search(system) and not asks))
    else:
        emoji = len(set(EMOJI.findall(instructions))) >= FEWEST_EMOJI
        is_request = not asks and bool((len(carried) > 1 and instructions.strip()) or emoji)
    if not is_request:
        return None
    earlier = tuple(turn for turn in messages[:-1] if turn.role != "system")
    name = key[1].lower() if key else "title"
    return Housekeeping(name, as_json=bool(key), instructions=request, conversation=carried or earlier)


def question_in(text: str) -> str:
    """Return the question of a message to which a chat program added documents; else the message."""
    if query := QUERY.search(CONTEXT.sub("", text)):
        return query[2].strip()
    return text.rpartition("</context>")[2].strip() or text


def _cut_middle(text: str, longest: int) -> str:
    """Cut the middle of a long text; the instruction is at one of the ends."""
    return text if len(text) <= longest else f"{text[: longest // 2]} … {text[-longest // 2 :]}"


def _split_request(request: str) -> tuple[str, tuple[Turn, ...]]:
    """Split a request into instructions and the conversation between tags or after the instructions."""
    if history := HISTORY.search(request):
        return f"{request[: history.start()]}\n{request[history.end() :]}", _turns(history[1])
    turns = _turns(request)
    first = SAID_BY.search(request)
    return (request[: first.start()], turns) if first else (request, ())


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
    values: dict[str, Any] = {asked.key: (VALUES[asked.key] if asked.as_json else FreeText, ...)}
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
