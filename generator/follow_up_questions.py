"""Completion of a follow-up question without a language model.

"How much did yields fall?" after a question about rice paddies names no subject. Keywords of the earlier
question are added to it if the papers found for the earlier question contain its words.
"""

from collections.abc import Collection

from generator.request import Turn
from indexer.analysis.word_roles import SUBJECT_ROLES, role_of
from retriever.errors import BadQuestion
from retriever.index import SearchIndex
from retriever.request import check_question
from retriever.search import SearchRequest, search, terms_of
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit
from retriever.terms import SearchTerms

MOST_EARLIER = 3  # newest earlier questions that are used
LONGEST_EARLIER = 1_000  # characters
MOST_WORDS = 3  # nouns of a follow-up
LEAST_HELD = 0.5  # share of its words that one passage found for the earlier question contains
PASSAGES = 5  # of the search for the earlier question
MOST_ADDED = 5  # keywords


def _subject(question: str, index: SearchIndex) -> frozenset[str]:
    """Return the tokens of the nouns of a question."""
    tagged = index.analyzer.tagged_tokens(question)
    return frozenset(token[0] for token, tag in tagged if role_of(token[0], tag) == "noun")


async def may_follow(question: str, index: SearchIndex) -> bool:
    """Check whether a question is so short that it may depend on an earlier one."""
    return len(await index.threads.run(_subject, question, index)) <= MOST_WORDS


async def with_earlier_subject(
    turns: Collection[Turn], question: str, index: SearchIndex, settings: RetrieverSettings
) -> str:
    """Return a follow-up question with keywords of the earlier question; other questions are unchanged.

    Raises:
        RetrieverError: the engine fails.
    """
    earlier = [turn.text[:LONGEST_EARLIER] for turn in turns if turn.role == "user" and _is_question(turn)]
    subject = ""
    for each in [*earlier[-MOST_EARLIER:], question]:
        subject = await _joined(subject, each, index, settings) if subject else each
    return subject


def _is_question(turn: Turn) -> bool:
    try:
        check_question(turn.text[:LONGEST_EARLIER])
    except BadQuestion:
        return False
    return True


async def _joined(subject: str, question: str, index: SearchIndex, settings: RetrieverSettings) -> str:
    """Return `question` with keywords of `subject` if it is a follow-up of `subject`."""
    words = await index.threads.run(_subject, question, index)
    asked = await index.threads.run(_asked_words, subject, index)
    if len(words) > MOST_WORDS or not asked:
        return question
    found = await search(index, SearchRequest(subject, k=PASSAGES), settings)
    if words:
        own = await terms_of(index, SearchRequest(question), settings)
        if not await index.threads.run(_continues, own, words, found.hits, index):
            return question
    texts = (each.text for each in found.keywords if not asked.isdisjoint(each.tokens))
    added = [
        each
        for each in texts
        if each.casefold() in subject.casefold() and each.casefold() not in question.casefold()
    ]
    return f"{question} ({', '.join(added[:MOST_ADDED])})" if added else question


def _asked_words(question: str, index: SearchIndex) -> frozenset[str]:
    """Return the tokens of a question without its question words."""
    tagged = index.analyzer.tagged_tokens(question)
    return frozenset(token[0] for token, tag in tagged if role_of(token[0], tag) in SUBJECT_ROLES)


def _continues(
    terms: SearchTerms | None, words: Collection[str], hits: Collection[Hit], index: SearchIndex
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
