"""The last question of a conversation as a standalone question.

The language model rewrites it. Without a model, a follow-up such as "How much did yields fall?" after a
question about rice paddies gets keywords of that question, if the papers found for it contain its words.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from base.notes import Note
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.request import AskRequest, Resources, Turn
from generator.tracing.steps import Step
from indexer.analysis.word_roles import SUBJECT_ROLES, role_of
from indexer.corpora.papers import language_of
from retriever.errors import BadQuestion
from retriever.index import SearchIndex
from retriever.methods import method_named
from retriever.request import check_question
from retriever.search import SearchRequest, search, terms_of
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit
from retriever.terms import SearchTerms

LONGEST_QUESTION = 2_000  # characters; a longer question is taken as standalone
# Limits of the earlier turns in the prompt, in characters: in all, and for each question and answer.
MOST_CHARACTERS = 6_000
LONGEST_TURNS = {"user": 1_000, "assistant": 600}
BY_RULES = "keywords of the earlier question"
NOT_READ = Note("turns_unused")
UNCLEAR = Note("turns_unclear")

# Without a model: earlier questions that are used, nouns of a follow-up, the share of its words that one
# passage found for the earlier question contains, these passages, and the keywords that are added.
MOST_EARLIER, MOST_WORDS, LEAST_HELD, PASSAGES, MOST_ADDED = 3, 3, 0.5, 5, 5


class StandaloneQuestion(BaseModel):
    """Reply schema; `question` is used only if `depends` is true."""

    depends: bool
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


async def question_step(parent: Step, request: AskRequest, resources: Resources) -> AskRequest:
    """Return the request with a standalone question, which a separate step writes.

    A note says if the earlier turns are not used. A changed request is published to the parent's listener.

    Raises:
        BadQuestion: the question cannot be searched for.
        RetrieverError: a search fails.
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
        load_prompt("question", language_of(asked)),
        {"turns": shown_turns(request.turns), "question": asked},
        StandaloneQuestion,
        read=lambda reply: reply.value.question if reply.value.depends else asked,
        fallback=BY_RULES,
        otherwise=partial(_by_rules, parent, request, resources),
        inputs={"question": asked, "turns": len(request.turns)},
        output=str,
    )
    question = await standalone.run(parent, resources.model)
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
    """Return a follow-up question with the subject of an earlier one; other questions are unchanged."""
    question, index = request.question, resources.index
    is_short = len(await index.run(_tokens, question, {"noun"})) <= MOST_WORDS
    if is_short and not method_named(request.method).is_expression:
        with parent.step("question", question=question, turns=len(request.turns)) as step:
            settings = resources.settings.retriever
            question = await _with_earlier_subject(request.turns, question, index, settings)
            step.output = question
    if question == request.question:
        parent.notes.append(UNCLEAR if is_short else NOT_READ)
    return question


def _tokens(index: SearchIndex, question: str, roles: Collection[str]) -> frozenset[str]:
    """Return the tokens of a question with one of these roles."""
    tagged = index.analyzer.tagged_tokens(question)
    return frozenset(token[0] for token, tag in tagged if role_of(token[0], tag) in roles)


async def _with_earlier_subject(
    turns: Collection[Turn], question: str, index: SearchIndex, settings: RetrieverSettings
) -> str:
    """Add keywords of the previous question to each follow-up question; return the last question."""
    earlier = [turn.text[: LONGEST_TURNS["user"]] for turn in turns if turn.role == "user"]
    subject = ""
    for each in [*filter(_is_question, earlier)][-MOST_EARLIER:]:
        subject = await _joined(subject, each, index, settings) if subject else each
    return await _joined(subject, question, index, settings) if subject else question


def _is_question(text: str) -> bool:
    try:
        check_question(text)
    except BadQuestion:
        return False
    return True


async def _joined(subject: str, question: str, index: SearchIndex, settings: RetrieverSettings) -> str:
    """Return `question` with keywords of `subject` if it is a follow-up of `subject`."""
    words = await index.run(_tokens, question, {"noun"})
    asked = await index.run(_tokens, subject, SUBJECT_ROLES)
    if len(words) > MOST_WORDS or not asked:
        return question
    found = await search(index, SearchRequest(subject, k=PASSAGES), settings)
    if words:
        own = await index.run(terms_of, SearchRequest(question), settings)
        if not await index.run(_continues, own, words, found.hits):
            return question
    added = [
        keyword.text
        for keyword in found.keywords
        if not asked.isdisjoint(keyword.tokens)
        and keyword.text.casefold() in subject.casefold()
        and keyword.text.casefold() not in question.casefold()
    ]
    return f"{question} ({', '.join(added[:MOST_ADDED])})" if added else question


def _continues(
    index: SearchIndex, terms: SearchTerms | None, words: Collection[str], hits: Collection[Hit]
) -> bool:
    """Check whether a passage found for the earlier question covers enough of the new question's subject."""
    subject = terms.views[0] if terms and terms.views else ()
    asked = [each for each in subject if each.forms[0][0] in words]
    for hit in hits:
        analysed = index.analyzer.analyze(f"{hit.passage.title}\n{hit.passage.text}")
        tokens = {token[0] for token in analysed}
        held = [any(tokens.issuperset(form) for form in each.forms) for each in asked]
        if any(held) and sum(held) >= LEAST_HELD * len(held):
            return True
    return False
