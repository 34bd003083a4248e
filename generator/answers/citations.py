"""Check of a sentence against its cited passages, by rules and without a model.

It compares numbers with their units, names, words of opposite meaning and negations, the sides of a
comparison, and the share of the sentence's words in the passages; across languages by the glossary's pairs.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from generator.checking.clauses import Bridge, Text, terms_of
from generator.checking.names import abbreviations, missing_names
from generator.checking.opposites import AXIS_WORDS, FUNCTION_WORDS
from generator.checking.reading import Reading
from generator.checking.reading import read as read_once
from generator.checking.signs import SIGNS, Compared, Sign
from indexer.corpora.papers import Language, language_of
from indexer.files.schema import StoredPassage
from indexer.glossary.transliteration import sounds_like
from retriever.index import SearchIndex

# quoted: the paper's own words, not checked.
Check = Literal["supported", "unsupported", "not checkable", "excluded", "quoted"]

# Least share of a sentence's words in the cited passages, within a language.
LEAST_OVERLAP = 0.5
# Least share of a sentence's glossary terms in the cited passages, across languages.
LEAST_PAIRS = 0.5
# Signs from the share of words: paraphrases trigger them, and a judge may overrule them.
UNSURE: frozenset[Sign] = frozenset({"clause", "words"})
LONGEST_SENTENCE, LONGEST_PASSAGE = 2_000, 20_000  # characters that are compared


@dataclass(frozen=True, slots=True)
class Reason:
    """A sign of missing support for a sentence, and the words concerned."""

    sign: Sign
    words: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The check of one sentence with its reasons and word overlap."""

    check: Check
    reasons: tuple[Reason, ...] = ()
    overlap: float | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """Words of the sentence that the passages do not support."""
        return tuple(reason.words for reason in self.reasons)


def check_sentence(
    text: str,
    passages: Sequence[StoredPassage],
    index: SearchIndex,
    read: Callable[[str], Reading] | None = None,
) -> Finding:
    """Check one sentence against the passages it cites; without citations it is unsupported.

    `read` caches parsed passages for several sentences (`reader`). A sentence longer than LONGEST_SENTENCE is
    never "supported". Passages are compared up to LONGEST_PASSAGE.
    """
    if not passages:
        return Finding("unsupported", (Reason("citation", "no citation"),))
    read = read or reader(index)
    language = language_of(text)
    across = not any(_same_language(language, passage.lang) for passage in passages)
    own = read(unicodedata.normalize("NFC", text[:LONGEST_SENTENCE]))
    written = [f"{each.title}\n\n{each.text}".strip()[:LONGEST_PASSAGE] for each in passages]
    sources = [read(unicodedata.normalize("NFC", each)) for each in written]
    sentence = own.text
    held = {token[0] for source in sources for token in source.text.tokens}
    translations = {pair for source in sources for pair in source.translations} if across else ()
    bridge = Bridge(sentence.tokens, index.glossary, translations)
    compared = Compared(own, tuple(sources), held, bridge, across)
    reasons = tuple(dict.fromkeys(Reason(sign, words) for sign, found in SIGNS for words in found(compared)))
    reasons += tuple(
        _names(sentence, [source.text for source in sources], language, index, held, across=across)
    )
    if across:
        anchors = len(sentence.quantities) + len(abbreviations(sentence.text))
        finding = _across(bridge, held, reasons, anchors=anchors)
    else:
        finding = _within(sentence, held, reasons)
    if len(text) > LONGEST_SENTENCE and finding.check == "supported":
        return replace(finding, check="not checkable")
    return finding


def check_title(
    text: str,
    passages: Sequence[StoredPassage],
    index: SearchIndex,
    read: Callable[[str], Reading] | None = None,
) -> Finding:
    """Check the title of an answer against all passages that the answer cites.

    The share of words does not count, because a title is brief. A question is not checkable.
    """
    if not passages or text.rstrip().endswith(("?", "？")):
        return Finding("not checkable")
    finding = check_sentence(text, passages, index, read)
    reasons = tuple(reason for reason in finding.reasons if reason.sign not in UNSURE)
    if finding.check != "unsupported" or reasons:
        return replace(finding, reasons=reasons)
    return Finding("not checkable")


def reader(index: SearchIndex) -> Callable[[str], Reading]:
    """Return a parser of texts with a cache for one answer."""
    return lru_cache(lambda text: read_once(text, index.analyzer, index.glossary))


def _within(sentence: Text, held: set[str], reasons: tuple[Reason, ...]) -> Finding:
    distinct = terms_of(sentence.tokens) - FUNCTION_WORDS
    # Numbers and words of change have their own signs.
    compared = {
        token[0] for token in sentence.tokens if token[0] in AXIS_WORDS or sentence.in_quantity(token)
    }
    distinct -= compared - held
    if not distinct:
        return Finding("unsupported" if reasons else "not checkable", reasons)
    overlap = len(distinct & held) / len(distinct)
    if overlap < LEAST_OVERLAP:
        reasons += (Reason("words", "too few of its words"),)
    return Finding("unsupported" if reasons else "supported", reasons, round(overlap, 3))


def _across(bridge: Bridge, held: set[str], reasons: tuple[Reason, ...], *, anchors: int) -> Finding:
    pairs = bridge.found(held)
    overlap = round(sum(pairs) / len(pairs), 3) if pairs else None
    if overlap is not None and overlap < LEAST_PAIRS and not anchors:
        reasons += (Reason("words", "too few of its words"),)
    if reasons:
        return Finding("unsupported", reasons, overlap)
    return Finding("supported" if pairs or anchors else "not checkable", (), overlap)


def _names(
    sentence: Text,
    sources: Sequence[Text],
    language: Language,
    index: SearchIndex,
    held: set[str],
    *,
    across: bool,
) -> Iterator[Reason]:
    def knows(word: str) -> bool | None:
        tokens = [token[0] for token in index.analyzer.analyze(word)]
        matches = [
            match for match in index.glossary.translations(tokens) if match.end - match.start == len(tokens)
        ]
        if not matches:
            return None
        here = any(held.issuperset(match.other_tokens) for match in matches)
        # A name that is only transliterated has no other translation.
        return here or not all(sounds_like(match.pair.korean, match.pair.english) for match in matches)

    tagged = index.analyzer.tagged_words(sentence.text) if language == "ko" else []
    source = " ".join(source.text for source in sources)
    for name in missing_names(sentence.text, source, language, tagged, knows, across=across):
        yield Reason("name", name)


def _same_language(first: Language, second: Language) -> bool:
    return first == second or "other" in {first, second}


def cited(passage_ids: Iterable[str], evidence: Sequence[StoredPassage]) -> list[StoredPassage]:
    """Return the cited passages of the evidence."""
    wanted = set(passage_ids)
    return [passage for passage in evidence if passage.passage_id in wanted]
