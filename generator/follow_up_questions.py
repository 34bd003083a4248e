"""Completion of a follow-up question without a language model.

"How much did yields fall?" after a question about rice paddies names no subject. Keywords of the earlier
question are added to it if the papers found for the earlier question contain its words.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from base.patterns import lazy_regex
from generator.request import Turn
from indexer.analysis.word_roles import SUBJECT_ROLES, is_common, role_of
from retriever.errors import BadQuestion
from retriever.index import SearchIndex
from retriever.request import check_question
from retriever.search import SearchRequest, search, terms_of
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit
from retriever.terms import SearchTerms

MOST_EARLIER = 3  # newest earlier questions that are used
LONGEST_EARLIER = 1_000  # characters
MOST_WORDS, MOST_POINTING = 3, 5  # subject words of a follow-up without and with a pronoun
LEAST_HELD = 0.5  # share of its words that one passage found for the earlier question contains
PASSAGES = 5  # of the search for the earlier question
MOST_ADDED = 5  # keywords
_LINKS = "and|but|or|so|then"
_KOREAN_LINKS = "그럼|그러면|그렇다면|그런데|그리고|그래서|또는"
# Pronouns, and the first words of a question without a verb: "And in winter?".
POINTING = lazy_regex(
    rf"""^\W*(what|how)\ about\b
    |^\W*({_LINKS}),?\s+
        (what\ about|how\ about|in|on|at|for|with|without|by|under|after|before|from)\b
    |\b(it|its|they|them|their|he|him|his|she|her|former|latter)\b
    |\b(this|that|these|those)\b(?=\W*$
        |\s+(is|are|was|were|has|have|had|does|do|did|can|could|will|would|may|might|should|must|mean|means
        |work|works|happen|affect|apply|help|compare|cause|change|depend|matter)\b)
    |(^|\s)((그|이)(것|때|들|는|곳)|그\s?중|이\s중(?=\s|에)|이중에|거기)
    |^\W*({_KOREAN_LINKS})\s[^?]*(에는|에서는|으로는|로는|보다는)\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
# Words that also occur in questions about a new subject: "So what is graphene?", "Does this drought end?".
LINKING = lazy_regex(
    rf"""^\W*({_LINKS}|{_KOREAN_LINKS})\b
    |\b(it|this|that|these|those)\b
    |(^|\s)(그런|이런|그|이|해당|앞의|위의)\s""",
    re.IGNORECASE | re.VERBOSE,
)
# "It is true that", "is it safe to" before a verb and its object, "does it take to".
EXPLETIVE = r"""\bit\s+((\w+\s+){0,2}that\b
    |(takes?\s+(\w+\s+)?
        |(\w+ly\s+)?(safe|possible|impossible|necessary|important|worthwhile|good|better|best|bad|ok|okay
        |healthy|unhealthy|dangerous|harmful|useful|easy|hard|difficult|legal|common|normal|feasible
        |advisable|beneficial)\s+)
    (for\s+(\w+\s+){1,3})?to(?=\s+\w+\s+\w))"""
# Words that name no subject: a leading "so", "this method", 이 방법의, expletive "it".
NO_SUBJECT = lazy_regex(
    rf"^\W*({_LINKS})\b|\b(this|these|those)\s+\w+|(?<!\S)(그런|이런|그|이)\s+\S+|(?P<it>{EXPLETIVE})",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Form:
    """Subject tokens of a question, and whether a word before them refers to an earlier turn."""

    words: frozenset[str]
    points: bool

    @property
    def is_short(self) -> bool:
        return len(self.words) <= (MOST_POINTING if self.points else MOST_WORDS)


def _form_of(question: str, index: SearchIndex) -> _Form:
    passed = list(NO_SUBJECT.finditer(question))
    subject = [
        token
        for token, tag in index.analyzer.tagged_tokens(question)
        if role_of(token[0], tag) == "noun"
        and not any(match.start() <= token[2] < match.end() for match in passed)
    ]
    first = min((start for _, _, start, _ in subject), default=len(question))
    expletive = {match.start() for match in passed if match["it"]}
    points = any(
        match.start() <= first and match.start() not in expletive for match in POINTING.finditer(question)
    )
    if all(is_common(question[start:end], token) for token, _, start, end in subject):
        linking = LINKING.search(question)
        points = points or bool(linking and linking.start() <= first)
    return _Form(frozenset(token for token, *_ in subject), points)


async def may_follow(question: str, index: SearchIndex) -> bool:
    """Check whether a question is so short that it may depend on an earlier one."""
    return (await index.threads.run(_form_of, question, index)).is_short


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
    form = await index.threads.run(_form_of, question, index)
    asked = await index.threads.run(_asked_words, subject, index)
    if not form.is_short or not asked:
        return question
    found = await search(index, SearchRequest(subject, k=PASSAGES), settings)
    if form.words and not form.points:
        own = await terms_of(index, SearchRequest(question), settings)
        if not await index.threads.run(_continues, own, form.words, found.hits, index):
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
