"""Does a cited passage say what a sentence says? Checked by what can be compared without a model.

Within a language: numbers, Latin names and abbreviations, and the share of the sentence's words that the
passages hold. Across languages: numbers, Latin names and abbreviations, and the glossary's pairs.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from indexer.analysis import Token
from indexer.papers import Language, language_of
from indexer.schema import StoredPassage
from retriever.index import SearchIndex

Check = Literal["supported", "unsupported", "not checkable", "excluded"]

# Share of a sentence's words that the cited passages must hold, within a language.
LEAST_OVERLAP = 0.5
# Share of a sentence's glossary terms that the cited passages must hold, across languages.
LEAST_PAIRS = 0.5

NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d*\.\d+|\d+")
# Names and abbreviations: capitals after the first letter, or a capital and a digit, or a capitalised word
# inside a Korean sentence.
ABBREVIATION = re.compile(r"(?<![A-Za-z])[A-Za-z]*[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9]*")
LATIN_WORD = re.compile(r"(?<![A-Za-z])[A-Z][a-z]{2,}(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class Finding:
    """The check of one sentence and what it went by."""

    check: Check
    missing: tuple[str, ...] = ()
    overlap: float | None = None


def check_sentence(text: str, passages: Sequence[StoredPassage], index: SearchIndex) -> Finding:
    """Check one sentence against the passages it cites; without any it is unsupported."""
    if not passages:
        return Finding("unsupported", ("no citation",))
    language = language_of(text)
    source = unicodedata.normalize("NFC", " ".join(f"{passage.title} {passage.text}" for passage in passages))
    sentence = unicodedata.normalize("NFC", text)
    missing = [*_missing_numbers(sentence, source), *_missing_names(sentence, source, language)]
    tokens = index.analyzer.analyze(sentence)
    held = {word for passage in passages for word in index.tokens_of(passage).text.words()}
    if any(_same_language(language, passage.lang) for passage in passages):
        return _within(tokens, held, missing)
    return _across(sentence, tokens, held, missing, index)


def _within(tokens: Sequence[Token], held: set[str], missing: Sequence[str]) -> Finding:
    distinct = {token[0] for token in tokens}
    if not distinct:
        return Finding("not checkable")
    overlap = len(distinct & held) / len(distinct)
    check: Check = "unsupported" if missing or overlap < LEAST_OVERLAP else "supported"
    return Finding(check, tuple(missing), round(overlap, 3))


def _across(
    sentence: str, tokens: Sequence[Token], held: set[str], missing: Sequence[str], index: SearchIndex
) -> Finding:
    pairs = [
        not held.isdisjoint(match.pair.english_tokens if match.target == "en" else match.pair.korean_tokens)
        for match in index.glossary.translations([token[0] for token in tokens])
    ]
    if missing:
        return Finding("unsupported", tuple(missing))
    overlap = sum(pairs) / len(pairs) if pairs else None
    anchors = len(numbers(sentence)) + len(names(sentence, language_of(sentence)))
    if overlap is not None and overlap < LEAST_PAIRS and not anchors:
        return Finding("unsupported", (), round(overlap, 3))
    if not pairs and not anchors:
        return Finding("not checkable")
    return Finding("supported", (), None if overlap is None else round(overlap, 3))


def numbers(text: str) -> set[str]:
    """Return the numbers of a text, written alike: 1,046 as 1046, 5.20 as 5.2."""
    return {_plain(match) for match in NUMBER.findall(text)}


def _plain(number: str) -> str:
    whole, _, decimals = number.replace(",", "").partition(".")
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{decimals}" if decimals else "")


def names(text: str, language: Language) -> set[str]:
    """Return abbreviations, and in a Korean text also capitalised Latin words."""
    found = set(ABBREVIATION.findall(text))
    if language == "ko":
        found |= set(LATIN_WORD.findall(text))
    return found


def _missing_numbers(sentence: str, source: str) -> list[str]:
    return sorted(numbers(sentence) - numbers(source))


def _missing_names(sentence: str, source: str, language: Language) -> list[str]:
    plain = source.casefold()
    return sorted(name for name in names(sentence, language) if not _stands_in(name, plain))


def _stands_in(name: str, plain: str) -> bool:
    """Tell whether a name stands in a case-folded text as a word of its own, singular or plural."""
    singular = name[:-1] if name.endswith("s") and name[:-1].isupper() else name
    return bool(re.search(rf"(?<![a-z0-9]){re.escape(singular.casefold())}s?(?![a-z0-9])", plain))


def _same_language(first: Language, second: Language) -> bool:
    return first == second or "other" in {first, second}


def cited(passage_ids: Iterable[str], evidence: Sequence[StoredPassage]) -> list[StoredPassage]:
    """Return the passages of the evidence that are cited."""
    wanted = set(passage_ids)
    return [passage for passage in evidence if passage.passage_id in wanted]
