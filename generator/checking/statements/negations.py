"""Sign: a negation on one side only.

Claim "the trial did not reach its goal" for the passage "the trial reached its goal"; 있었다 for 없었다;
claim "with a GPS" for the passage "no GPS is used".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.text.clauses import Clause, Text, start_of_token, starting_in, terms_of
from generator.checking.text.lexicon import AXIS_TERMS, AXIS_WORDS, GENERIC_WORDS, HEDGE, MOST_PAIRS, NEGATION
from generator.checking.text.matching import LEAST_SHARED, NEARLY_AS_SIMILAR, TermMatcher
from indexer.analysis.tokens import Token

# "Left it unchanged" negates a change without "not".
UNCHANGED = re.compile(
    r"\bunchanged\b|\b(?:remained|stayed) (?:the same|constant|stable)\b|그대로", re.IGNORECASE
)
# A clause about no member of a group: "no question was left without", 답하지 못한 질문은 없었다.
NONE = re.compile(
    r"^\W*(?:no\b(?! (?:less|fewer|more) than)|none of\b|not (?:one|a single)\b)"
    r"|[은는이가도] 없(?=었|다|음|습|으며|고)",
    re.IGNORECASE,
)
LACKING = re.compile(
    r"(?<!with and )(?<!with or )\b"
    r"(?:no(?! (?:longer|more|less|fewer|doubt|matter)\b)|without(?: (?:any|a|an|the))?)\s",
    re.IGNORECASE,
)
ENDS = re.compile(
    r"[,;.:()\n]|\b(?:and|or|but|nor|in|of|for|with|among|at|on|to|by|is|are|was|were|has|had|have)\b"
)
KOREAN_LACKING = re.compile(r"(?:[이가은는도]|을 쓰지|를 쓰지|을 넣지|를 넣지)? ?(?:없이|없는|않은|않고)")
# Words of absence without "not".
SPARED = re.compile(
    r"\b(?:avoid|prevent|free|absen|lack|omit|exclud|instead|replac|unnecessary|dispens|spar|rul|lost|los[et]|miss)\w*|\b(?:unlike|except)\b"
    r"|대신|잃|놓치|닿지|피하|피할|막|방지|불필요|제외|빼|생략|배제|대체",
    re.IGNORECASE,
)
NEGATED_WORDS = 2  # words that an English "not" negates: "not significantly improve"
LEAST_SHARE = 0.5
MOST_WORDS = 3
LONGEST_PHRASE = 40  # characters


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause with the words that it negates; `hedged` clauses have no certain polarity."""

    clause: Clause
    written: str
    negated: tuple[Token, ...]
    hedged: bool
    negations: int  # words for "not"
    of_none: bool


def statements(text: Text) -> Iterator[Statement]:
    """Yield the clauses of a text with their negated words."""
    for clause in text.clauses:
        written = text.words_of(clause)
        hedged = bool(HEDGE.search(written) or UNCHANGED.search(written))
        count, of_none = len(NEGATION.findall(written)), bool(NONE.search(written))
        yield Statement(clause, written, _negated_words(text, clause), hedged, count, of_none)


def _negated_words(text: Text, clause: Clause) -> tuple[Token, ...]:
    """Return the negated words of a clause: after an English "not", before a Korean 않."""
    found: list[Token] = []
    for match in NEGATION.finditer(text.text, clause.start, clause.end):
        if match[0].isascii():
            found += [token for token in clause.tokens if token[2] >= match.end()][:NEGATED_WORDS]
        else:
            found += [token for token in clause.tokens if token[3] <= match.start()][-1:]
    return tuple(found)


def contradicted_negations(
    in_claim: Sequence[Statement], in_passages: Sequence[Statement], matcher: TermMatcher
) -> Iterator[str]:
    """Yield words that either the claim or the most similar clause of the passages negates.

    Words of direction are compared by `opposites`. A clause that is nearly as similar and agrees excuses the
    claim. More than MOST_PAIRS pairs are not compared.
    """
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return
    places = [(terms_of(place.clause.tokens), place) for place in in_passages]
    for claimed in in_claim:
        if claimed.hedged:
            continue
        least = max(LEAST_SHARED, LEAST_SHARE * len(terms_of(claimed.clause.tokens)))
        ranked = [(matcher.count(claimed.clause.tokens, words), place) for words, place in places]
        best = max((shared for shared, _ in ranked), default=0)
        if best < least:
            continue
        good = [place for shared, place in ranked if shared >= max(least, NEARLY_AS_SIMILAR * best)]
        opposed = [None if place.hedged else _opposed(claimed, place, matcher) for place in good]
        if all(opposed) and opposed[0]:
            yield opposed[0]


def _opposed(claimed: Statement, place: Statement, matcher: TermMatcher) -> str | None:
    """Return the word that one of two clauses negates and the other one affirms."""
    their_words = terms_of(place.negated) - AXIS_TERMS
    affirmed = terms_of(place.clause.tokens) - their_words - AXIS_TERMS
    for token in claimed.negated:
        if not place.negated and matcher.count((token,), affirmed):
            return token[0]
    if claimed.of_none and not place.of_none and claimed.negations == place.negations + 1 > 1:
        for token in claimed.negated:  # double negation
            if matcher.count((token,), their_words):
                return token[0]
    if not claimed.negated:
        for token in claimed.clause.tokens:
            if token[0] not in AXIS_WORDS and matcher.count((token,), their_words):
                return token[0]
    return None


def negated_terms(text: Text) -> set[str]:
    """Return the terms of a text that occur only after "no" or "without" or before 없이."""
    negated = {id(token): token[0] for token in _negated_tokens(text)}
    others = {token[0] for token in text.tokens if id(token) not in negated}
    return set(negated.values()) - others - GENERIC_WORDS


def _negated_tokens(text: Text) -> Iterator[Token]:
    """Yield the head after each "no" or "without", and the word before 없이."""
    for match in LACKING.finditer(text.text):
        far = match.end() + LONGEST_PHRASE
        end = ENDS.search(text.text, match.end(), far)
        stop = end.start() if end else far
        yield from starting_in(text.tokens, start_of_token, match.end(), stop)[:MOST_WORDS][-1:]
    ending_at = {token[3]: token for token in text.tokens}
    for match in KOREAN_LACKING.finditer(text.text):
        if match.start() in ending_at:
            yield ending_at[match.start()]


def affirmed_terms(
    claim: Text, passages: Sequence[set[str]], passage_terms: set[str], matcher: TermMatcher
) -> Iterator[str]:
    """Yield the words of a claim without negation that the passages contain only negated."""
    negated = set[str]().union(*passages)
    if not negated:
        return
    for clause in claim.clauses:
        written = claim.words_of(clause)
        if NEGATION.search(written) or HEDGE.search(written) or SPARED.search(written):
            continue
        for token in clause.tokens:
            found = matcher.matched((token,), negated)
            if found and not matcher.matched((token,), passage_terms - negated):
                yield claim.text[token[2] : token[3]]
