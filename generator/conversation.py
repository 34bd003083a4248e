"""The last question of a conversation as a standalone question.

The language model decides whether it depends on earlier ones, and rewrites it. Without a model, a question
that refers back by a word of a table, such as "Does it lower yields?", gets keywords of the question before.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from base.notes import Note
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.request import AskRequest, Resources, Turn
from generator.tracing import Step
from indexer.analysis.word_roles import role_of
from indexer.corpora.papers import language_of_question
from retriever.errors import BadQuestion
from retriever.index import SearchIndex
from retriever.methods import method_named
from retriever.request import check_question
from retriever.search import SearchRequest, terms_of
from retriever.settings import RetrieverSettings

LONGEST_QUESTION = 2_000  # characters; a longer question is taken as standalone
# Limits of the earlier turns in the prompt, in characters: in all, and for each question and answer.
MOST_CHARACTERS = 6_000
LONGEST_TURNS = {"user": 1_000, "assistant": 600}
BY_RULES = "keywords of the earlier question"
NOT_READ = Note("turns_unused")
UNCLEAR = Note("turns_unclear")

# Without a model: words that refer to an earlier question, and the number of its keywords that are added.
# "Is it possible …" refers to nothing; a determiner stands alone, a pronoun has a particle.
ENGLISH_REFERENCES = "its they them their this that these those he she his her him such and".split()
KOREAN_DETERMINERS = "그 이 해당 그런 이런 그러한 이러한 그건 그게 이건 이게 그럼 그러면 그렇다면".split()
KOREAN_PRONOUNS = "그것 이것 그들 이들 거기 그때".split()
ENGLISH_WORDS = "|".join(f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in ENGLISH_REFERENCES)
REFERENCES = re.compile(
    rf"\b[Ii]t\b(?! (?:possible|true|known|better)\b)|\b(?:{ENGLISH_WORDS})\b|\b(?:[Ww]hat|[Hh]ow) about\b"
    rf"|(?<!\S)(?:{'|'.join(KOREAN_DETERMINERS)})(?=[\s,?])"
    rf"|(?<!\S)(?:{'|'.join(KOREAN_PRONOUNS)})[은는이가을를도의에로과와만서]{{0,2}}(?=[\s,?])"
)
LEAST_NOUNS = 2  # of an earlier question without a question mark: "Thanks!" is none
MOST_ADDED = 5


class StandaloneQuestion(BaseModel):
    """Reply schema; `question` is used only if `depends` is true."""

    depends: bool
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


async def question_step(parent: Step, request: AskRequest, resources: Resources) -> AskRequest:
    """Return the request with a standalone question, which a separate step writes.

    A note says if the earlier turns are not used. A changed request is published to the parent's listener.

    Raises:
        BadQuestion: the question cannot be searched for.
    """
    if not request.turns:
        return request
    asked = request.question
    check_question(asked)
    if len(asked) > LONGEST_QUESTION:
        parent.notes.append(NOT_READ)
        return request

    standalone: ModelStep[StandaloneQuestion, str] = ModelStep(
        "question",
        load_prompt("question", language_of_question(asked)),
        {"turns": shown_turns(request.turns), "question": asked},
        StandaloneQuestion,
        read=lambda reply: reply.value.question if reply.value.depends else asked,
        fallback=BY_RULES,
        inputs={"question": asked, "turns": len(request.turns)},
        output=str,
    )
    question = await standalone.run(parent, resources.model)
    if question is None:
        question = await _by_rules(parent, request, resources)
    if question != asked:
        request = replace(request, question=question)
        parent.publish(request)
    return request


def shown_turns(turns: Sequence[Turn]) -> list[str]:
    """Return the newest turns of user and assistant, oldest first, each shortened, within MOST_CHARACTERS."""
    texts = []
    for turn in reversed(turns):
        text, longest = turn.text.strip(), LONGEST_TURNS.get(turn.role, 0)
        if text and longest:
            texts.append(f"{turn.role}: {text if len(text) <= longest else f'{text[:longest].rstrip()} …'}")
    lengths = accumulate(map(len, texts))
    return [text for text, length in zip(texts, lengths, strict=True) if length <= MOST_CHARACTERS][::-1]


async def _by_rules(parent: Step, request: AskRequest, resources: Resources) -> str:
    """Return a question with keywords of the earlier question that it refers to, else unchanged."""
    question, settings = request.question, resources.settings.retriever
    if not method_named(request.method).is_expression:
        with parent.step("question", question=question, turns=len(request.turns)) as step:
            earlier = [turn.text[: LONGEST_TURNS["user"]] for turn in request.turns if turn.role == "user"]
            added = await resources.index.run(_keywords_of_earlier, question, earlier, settings)
            question = step.output = f"{question} ({', '.join(added)})" if added else question
    if question == request.question:
        parent.notes.append(UNCLEAR)
    return question


def _keywords_of_earlier(
    index: SearchIndex, question: str, earlier: Sequence[str], settings: RetrieverSettings
) -> list[str]:
    """Return keywords of the newest earlier question with a subject, if `question` refers back to it.

    The keywords are as it writes them, and not in `question`.
    """

    def noun_starts(text: str) -> list[int]:
        tagged = index.analyzer.tagged_tokens(text)
        return sorted(token[2] for token, tag in tagged if role_of(token[0], tag) == "noun")

    def refers_back(text: str) -> bool:  # it has no noun, or a reference before its first noun
        nouns, reference = noun_starts(text), REFERENCES.search(text)
        return not nouns or (reference is not None and reference.start() <= nouns[0])

    def has_subject(text: str) -> bool:
        return ("?" in text or len(noun_starts(text)) >= LEAST_NOUNS) and not refers_back(text)

    subject = next(filter(has_subject, reversed(earlier)), "") if refers_back(question) else ""
    try:
        terms = terms_of(index, SearchRequest(subject), settings) if subject else None
    except BadQuestion:
        return []
    there, asked = subject.casefold(), question.casefold()
    keywords, roles = (terms.keywords, terms.question.roles) if terms else ((), {})
    nouns = [each.text for each in keywords if {*map(roles.get, each.tokens)} == {"noun"}]
    added = [text for text in nouns if text.casefold() in there and text.casefold() not in asked]
    return added[:MOST_ADDED]
