"""Originals in brackets: 지식 그래프(knowledge graph).

A Korean term ends at its bracket. It starts where its length fits the English term, at the latest behind a
border: punctuation, or a word with a particle or an ending. A term with fewer parts may be incomplete. A
transcribed name (아이작 뉴턴, Isaac Newton) starts where its consonants agree.
"""

import math
import re
from collections.abc import Iterator

from indexer.analysis.english import STOP_WORDS
from indexer.analysis.tokens import Analyzer
from indexer.glossary.loanwords import consonant_similarity
from indexer.glossary.pairs import BRACKET, HANGUL, LATIN, QUOTES, Sighting, korean_tokens, spell

WINDOW = 90  # characters
MOST_WORDS = 8
BORDER = re.compile(r"[^\w\s.&–-]|\.\s|\n|\s[–-]\s")
PARTS = re.compile(r"\s*[,;:，；]\s*")
ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
TERM = re.compile(r"[A-Za-zÀ-ÖØ-öø-ſ][A-Za-zÀ-ÖØ-öø-ſ0-9₀-₉ .'’&–-]*(?<![&–-])")
NO_TERM = re.compile(r"\bet al\b|\b(?:vs|Inc|Ltd|Corp|GmbH|USA)\b|\b(?:19|20)\d\d|\w\.\w\w", re.IGNORECASE)
VERB = re.compile(r".*[가-힣](?:의|는|를|한|된|던|있다|한다|했다|된다|하다|되다)")
NO_PART = frozenset("동안 등 등과 때 뒤 또는 및 삼아 외 위한 즉 중 통해 혹은".split())
PARTICLES = frozenset("은는이가을를의에와과도만로나며고다지요서면게자한된인")
FEWEST_LETTERS, SHORTEST_WORD = 2, 4  # shorter words in small letters are units and codes
LONGEST_SHORT_FORM = 10
# Letters of an English term and of an abbreviation for each syllable, measured on keyword lists.
LETTERS_PER_SYLLABLE, LETTERS_OF_SHORT_FORM = 3.4, 0.5
MOST_APART = 0.9  # of both lengths, in the log ratio
SAME_NUMBER = 0.1  # bonus for as many words as in English
TRANSCRIBED = 0.85


def bracketed_terms(text: str, analyzer: Analyzer) -> Iterator[Sighting]:
    """Yield the Korean terms of a text that have a bracket with the English term."""
    if text.isascii():
        return
    for bracket in BRACKET.finditer(text):
        before = text[max(0, bracket.start() - WINDOW) : bracket.start()].rstrip()
        inside = bracket.group(1).strip(QUOTES)
        forms = english_forms(inside)
        # An abbreviation beside a full form belongs to the same Korean term.
        if forms and (found := _korean_before(before, forms[0], analyzer)):
            yield from (found._replace(english=form) for form in forms)


def english_forms(inside: str) -> list[str]:
    """Return the full form and the abbreviation in a bracket, one of them, or nothing."""
    parts = [part.strip(QUOTES) for part in PARTS.split(inside)]
    terms = [ARTICLE.sub("", part) for part in parts if LATIN.search(part)]
    if not all(map(is_english_term, terms)) or any(map(str.isdecimal, parts)):
        return []
    full = [term for term in terms if not is_abbreviation(term)]
    short = [term for term in terms if is_abbreviation(term)]
    return [*full, *short] if max(len(full), len(short)) == 1 else []


def is_english_term(form: str) -> bool:
    """Check for a term of at most eight words: no unit, label, number or part of a sentence."""
    words = form.split()
    return (
        TERM.fullmatch(form) is not None
        and NO_TERM.search(form) is None
        and len(words) <= MOST_WORDS
        and len(LATIN.findall(form)) >= (SHORTEST_WORD if form.islower() else FEWEST_LETTERS)
        and STOP_WORDS.isdisjoint(word.lower() for word in (words[0], words[-1]) if not word.isupper())
    )


def is_abbreviation(form: str) -> bool:
    """Check for an abbreviation (LLM, eGFR, H2S) rather than a word."""
    capitals, has_digit = sum(map(str.isupper, form)), any(map(str.isdecimal, form))
    return len(form) <= LONGEST_SHORT_FORM and " " not in form and capitals + has_digit > 1


def _korean_before(before: str, english: str, analyzer: Analyzer) -> Sighting | None:
    """Return the Korean term at the end of a text."""
    span = BORDER.split(before)[-1]
    ends = [span[word.start() :] for word in re.finditer(r"\S+", span)][-MOST_WORDS:][::-1]
    alike, heard = max(((consonant_similarity(end, english), end) for end in ends), default=(0.0, ""))
    if alike >= TRANSCRIBED:
        return Sighting(heard, english)
    needed, parts, nouns = _number_of_parts(english), 0, dict[str, int]()
    for end in ends[:needed]:
        count = _parts_of_noun(end.split()[0], analyzer, number=any(map(str.isdecimal, english)))
        if count == 0:
            break
        parts += count
        nouns[end] = parts
    apart = {end: _distance(end, english) - SAME_NUMBER * (len(end.split()) == needed) for end in nouns}
    best = min(nouns, key=apart.__getitem__, default="")
    if not best or apart[best] > MOST_APART:
        return None
    is_name = " " not in english and english.istitle()
    is_sure = nouns[best] >= needed and len(english) > FEWEST_LETTERS and not is_name
    return Sighting(best, english, "bracket" if is_sure else "unsure")


def _parts_of_noun(word: str, analyzer: Analyzer, *, number: bool) -> int:
    """Return the number of parts of a noun; 0 for a word with a particle or an ending, or with a number."""
    if word in NO_PART or VERB.fullmatch(word) or (not number and any(map(str.isdecimal, word))):
        return 0
    tokens = analyzer.analyze(word)
    if tokens:
        last, _, start, end = tokens[-1]
        suffix = word[end:]
        if len(suffix) <= 1 and suffix not in PARTICLES and word[start:end].lower() == last:
            return len(tokens) + len(suffix)
    whole = korean_tokens(word, analyzer)
    return len(whole) if spell(whole, word) else 0


def _number_of_parts(english: str) -> int:
    if is_abbreviation(english):
        return sum(map(str.isalpha, english))
    return sum(word.lower() not in STOP_WORDS for word in english.split())


def _distance(korean: str, english: str) -> float:
    """Return how far the length of a Korean term is from the expected one, as a log ratio."""
    syllables = len(HANGUL.findall(korean))
    letters = LETTERS_OF_SHORT_FORM if is_abbreviation(english) else LETTERS_PER_SYLLABLE
    expected = len(LATIN.findall(english)) / letters
    return abs(math.log((syllables + 1) / (expected + 1))) if syllables > 1 else math.inf
