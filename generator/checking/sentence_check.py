"""Check of a sentence of an answer, the claim, against the passages that it cites: by rules, without a model.

"Methane fell by 73%" is unsupported by "methane fell by 37%", with the reason `number: 73%`. Signs compare
numbers, names, directions, negations and comparisons (`signs.py`). Without a sign the share of the claim's
words in the passages decides; across languages, the share of its glossary terms.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

from generator.checking.parsing import ParsedText, parse_text
from generator.checking.signs import SIGNS, CitedClaim, Sign
from generator.checking.statements.coverage import LEAST_OVERLAP, glossary_coverage, word_coverage
from generator.checking.statements.names import abbreviations, missing_names
from generator.checking.text.matching import TermMatcher, translation_found
from indexer.corpora.papers import Language, language_of
from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex

# quoted: the paper's own words, not checked.
Check = Literal["supported", "unsupported", "not checkable", "excluded", "quoted"]

# Signs from the share of words: paraphrases trigger them, and a judge may overrule them.
UNSURE: frozenset[Sign] = frozenset({"clause", "words"})
LONGEST_CLAIM, LONGEST_PASSAGE = 2_000, 20_000  # characters that are compared

Parser = Callable[[str], ParsedText]


@dataclass(frozen=True, slots=True)
class Reason:
    """A sign of missing support for a sentence, and the words concerned."""

    sign: Sign
    words: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The check of one claim with its reasons and word overlap."""

    check: Check
    reasons: tuple[Reason, ...] = ()
    overlap: float | None = None


def check_sentence(
    text: str, passages: Sequence[StoredPassage], index: SearchIndex, parse: Parser | None = None
) -> CheckResult:
    """Check one claim against the passages it cites; without citations it is unsupported.

    `parse` caches parsed passages for several claims (`parser`). A claim longer than LONGEST_CLAIM is never
    "supported". Passages are compared up to LONGEST_PASSAGE.
    """
    if not passages:
        return CheckResult("unsupported", (Reason("citation", "no citation"),))
    cited = _cited_claim(text, passages, index, parse or parser(index))
    reasons = [Reason(sign, words) for sign, found in SIGNS for words in found(cited)]
    names = _missing_names(cited, language_of(text), index)
    result = _result(cited, [*dict.fromkeys(reasons), *(Reason("name", name) for name in names)])
    if len(text) > LONGEST_CLAIM and result.check == "supported":
        return replace(result, check="not checkable")
    return result


def check_title(
    text: str, passages: Sequence[StoredPassage], index: SearchIndex, parse: Parser | None = None
) -> CheckResult:
    """Check the title of an answer against all passages that the answer cites.

    The share of words does not count, because a title is brief. A question is not checkable.
    """
    if not passages or text.rstrip().endswith(("?", "？")):
        return CheckResult("not checkable")
    result = check_sentence(text, passages, index, parse)
    reasons = tuple(reason for reason in result.reasons if reason.sign not in UNSURE)
    if result.check != "unsupported" or reasons:
        return replace(result, reasons=reasons)
    return CheckResult("not checkable")


def parser(index: SearchIndex) -> Parser:
    """Return a parser of texts with a cache for one answer."""
    return lru_cache(lambda text: parse_text(text, index.analyzer, index.glossary))


def _cited_claim(
    text: str, passages: Sequence[StoredPassage], index: SearchIndex, parse: Parser
) -> CitedClaim:
    language = language_of(text)
    cross_lingual = not any(_same_language(language, passage.lang) for passage in passages)
    claim = parse(unicodedata.normalize("NFC", text[:LONGEST_CLAIM]))
    texts = [f"{passage.title}\n\n{passage.text}".strip()[:LONGEST_PASSAGE] for passage in passages]
    parsed = tuple(parse(unicodedata.normalize("NFC", each)) for each in texts)
    terms = {token[0] for passage in parsed for token in passage.text.tokens}
    translations = {pair for passage in parsed for pair in passage.translations} if cross_lingual else ()
    matcher = TermMatcher(claim.text.tokens, index.glossary, translations)
    return CitedClaim(claim, parsed, terms, matcher, cross_lingual)


def _result(cited: CitedClaim, reasons: list[Reason]) -> CheckResult:
    """Combine the signs with the share of words; a number or an abbreviation replaces it across languages."""
    claim = cited.claim.text
    if cited.cross_lingual:
        overlap = glossary_coverage(cited.matcher, cited.passage_terms)
        anchored = bool(claim.quantities or abbreviations(claim.text))
    else:
        overlap, anchored = word_coverage(claim, cited.passage_terms), False
    if overlap is not None and overlap < LEAST_OVERLAP and not anchored:
        reasons = [*reasons, Reason("words", "too few of its words")]
    checkable = overlap is not None or anchored
    check: Check = "unsupported" if reasons else "supported" if checkable else "not checkable"
    return CheckResult(check, tuple(reasons), None if overlap is None else round(overlap, 3))


def _missing_names(cited: CitedClaim, language: Language, index: SearchIndex) -> Iterator[str]:
    claim = cited.claim.text.text
    passages = " ".join(passage.text.text for passage in cited.passages)
    tagged = index.analyzer.tagged_words(claim) if language == "ko" else []
    excused = partial(translation_found, index.analyzer, index.glossary, cited.passage_terms)
    return missing_names(claim, passages, language, tagged, excused, cross_lingual=cited.cross_lingual)


def _same_language(first: Language, second: Language) -> bool:
    return first == second or "other" in {first, second}
