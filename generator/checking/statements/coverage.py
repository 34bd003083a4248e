"""Signs: a clause, a universal word or too many words of a claim are missing from the passages.

Claim "scores rose by 0.62 points, and students earned higher salaries" for a passage about scores only; claim
"all farms" for the passage "most farms".
"""

import re
from collections.abc import Iterator, Sequence

from base.patterns import lazy_regex
from generator.checking.text.clauses import Clause, Text, terms_of
from generator.checking.text.lexicon import AXIS_WORDS, FUNCTION_WORDS, TOPICAL, table
from generator.checking.text.matching import TermMatcher, nearest_sentences
from indexer.analysis.tokens import Token

LEAST_OVERLAP = 0.5  # of a claim's words, or of its glossary terms across languages, in the passages
LEAST_WORDS, LEAST_PAIRS = 3, 3  # content words, or glossary terms across languages, of a clause
LEAST_COVERED, LEAST_COVERED_ACROSS = 0.3, 0.1  # least share of them in the passages
# Both of two, all three: 두 지역 모두, 당진과 해남 모두.
COUNTED = lazy_regex(r"(?:(?:둘|두|세|네|양쪽|양|\d)\s?[가-힣]{0,5}|[와과] [가-힣]{1,6})\s?$")
SHORTLY_BEFORE = 12  # characters
NUMBER = lazy_regex(r"\d+(?:\.\d+)?")
# Share of the matches of the best sentence; across languages the glossary lacks many terms.
NEAR_A_UNIVERSAL, NEAR_ACROSS = 0.75, 0.5
# Kind, words of a claim, words of a passage that allow them.
UNIVERSALS = [
    (kind, lazy_regex(own, re.IGNORECASE), lazy_regex(f"{own}|{more}", re.IGNORECASE))
    for kind, own, more in table("universals.tsv")
]


def uncovered_clauses(
    claim: Text, passage_terms: set[str], matcher: TermMatcher, *, cross_lingual: bool
) -> Iterator[str]:
    """Yield the clauses of a claim with too few words in the passages.

    A clause with a number is left out: the number is compared.
    """
    for clause in claim.clauses:
        if any(clause.start <= quantity.start < clause.end for quantity in claim.quantities):
            continue
        if cross_lingual:
            found = matcher.pair_matches(passage_terms, clause)
            least, share = LEAST_PAIRS, LEAST_COVERED_ACROSS
        else:
            found = [word in passage_terms for word in _content_terms(clause)]
            least, share = LEAST_WORDS, LEAST_COVERED
        alone = not cross_lingual and len(claim.clauses) > 1 and len(found) == least - 1 and not any(found)
        if alone or (len(found) >= least and sum(found) < share * len(found)):
            yield claim.words_of(clause).strip()


def _content_terms(clause: Clause) -> set[str]:
    words = terms_of(clause.tokens) - (AXIS_WORDS.keys() - TOPICAL) - FUNCTION_WORDS
    return {word for word in words if not word.isdigit()}


def unsupported_universals(
    claim: Text, passages: Sequence[Text], matcher: TermMatcher, *, cross_lingual: bool
) -> Iterator[str]:
    """Yield universal words (all, never, 모든, 세계 최초) that the passages do not support.

    A word of the same kind supports it if it occurs in a sentence most similar to the clause of the word:
    "every" supports "all".
    """
    nearly = NEAR_ACROSS if cross_lingual else NEAR_A_UNIVERSAL
    near: dict[tuple[Token, ...], list[str]] = {}  # by the tokens of a clause
    for kind, pattern, allowed in UNIVERSALS:
        for match in pattern.finditer(claim.text):
            before = claim.text[max(0, match.start() - SHORTLY_BEFORE) : match.start()]
            if match[0] == "모두" and COUNTED.search(before):
                continue
            tokens = claim.tokens_around(match.start())
            if tokens not in near:
                found = nearest_sentences(passages, tokens, matcher, nearly)
                near[tokens] = [text for sentences in found for text in sentences.values()]
            if not any(allowed.search(text) or _ranked(kind, text) for text in near[tokens]):
                yield match[0].strip()


def _ranked(kind: str, text: str) -> bool:
    """Return True for a superlative that may be derived from the numbers of a sentence."""
    return kind == "superlative" and len(NUMBER.findall(text)) > 1


def word_coverage(claim: Text, passage_terms: set[str]) -> float | None:
    """Return the share of a claim's distinct terms that occur in the passages; None without any term.

    Missing numbers and words of direction do not count: they have their own signs.
    """
    terms = terms_of(claim.tokens) - FUNCTION_WORDS
    terms -= {
        token[0] for token in claim.tokens if token[0] in AXIS_WORDS or claim.in_quantity(token)
    } - passage_terms
    return len(terms & passage_terms) / len(terms) if terms else None


def glossary_coverage(matcher: TermMatcher, passage_terms: set[str]) -> float | None:
    """Return the share of a claim's glossary terms that occur in the passages; None without any."""
    pairs = matcher.pair_matches(passage_terms)
    return sum(pairs) / len(pairs) if pairs else None
