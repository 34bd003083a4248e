"""Selection of quotable sentences: complete statements, not headings, lists, references or questions."""

import unicodedata
from collections import Counter

from base.patterns import lazy_regex
from generator.answers.marks import LIST_SIGN
from indexer.corpora.chunking import split_sentences
from indexer.corpora.cleaning import heading_kind
from indexer.corpora.papers import language_of

LONGEST = 600  # characters; a longer sentence is a list or a damaged text
FEWEST_WORDS = {"ko": 3, "en": 4}
# A sentence repeats the question if at most this share of the words of both differ.
SAME_WORDS = 0.1

# A list has at least so many separators, and this share of its words.
LEAST_SEPARATORS, LIST_SHARE = 5, 0.4

WORD = lazy_regex(r"\w+")
SEPARATOR = lazy_regex(r"[,;·•|/、，；]")
QUESTION_MARK = lazy_regex(r"[?？][.!…。\s\"'”’»)\]〉》」』】]*$")
# The end of a sentence: its last character, stops, closing quotes and brackets, footnote marks.
END = lazy_regex(
    r"(?P<last>[^\s.!?…。｡！？\"'”’»)\]〉》」』】])(?P<close>[\"'”’»)\]〉》」』】\s]*)(?P<stop>[.!?…。｡！？]*)"
    r"[\"'”’»)\]〉》」』】\s]*(?:\[[^\[\]\n]{1,20}\]\s*)*$"
)
FINALS, FINAL_M = 28, 16  # number of final consonants of Hangul syllables, and the index of ㅁ
LOWERCASE_WORD = lazy_regex(r"[a-z](?![a-z]?[A-Z0-9])")  # not mRNA or p53, which may start sentences
BULLET = lazy_regex(rf"{LIST_SIGN}|\||\(?\d{{1,2}}\)|[①-⑳]|\(?[a-z가-하]\)\s")
# Names with initials, volume, issue and pages: Kim, J., Lee, S. (2019). … 12(3), 45–67.
REFERENCE = lazy_regex(
    r"(?i:\bdoi\W{0,3}10\.|doi\.org/|\bisbn\b|\bpp\.\s*\d|\bvol\.\s*\d)"
    r"|\d\s*\(\d+\)\s*[,:]\s*(?:pp?\.\s*)?\d+\s*[-–~]\s*\d"  # 12(3), 45–67
    r"|\d권\s*(?:제?\d+호)?\s*[,:]?\s*\d+\s*[-–~]\s*\d"  # 제12권 제3호, 45–67
    r"|(?:^|[;,&]\s|\band\s)[A-Z][\w’'-]+,\s(?:[A-Z]\.[\s-]?)+(?:,|&|and\b|\(\d{4})"
)
# Authors and year, which precede the title in a reference.
HEAD_OF_REFERENCE = lazy_regex(r".{0,80}(?:[A-Z]\.|\bal\.,?|[가-힣]{2,4}(?<!다))\s*\(\d{4}[a-z]?\)[.,]?\s*$")


def quotable_sentences(text: str, question: str) -> list[str]:
    """Return the quotable sentences of a text for a question, in order."""
    sentences = [text[start:end] for start, end in split_sentences(text)]
    return [
        sentence
        for before, sentence in zip(["", *sentences], sentences, strict=False)
        if is_statement(sentence) and not HEAD_OF_REFERENCE.match(before) and not repeats(sentence, question)
    ]


def is_statement(sentence: str) -> bool:
    """Check for a complete statement of ordinary length that is neither list nor reference."""
    language = "ko" if language_of(sentence) == "ko" else "en"
    words = len(WORD.findall(sentence))
    return (
        len(sentence) <= LONGEST
        and words >= FEWEST_WORDS[language]
        and not is_separated(sentence, words)
        and not QUESTION_MARK.search(sentence)
        and not LOWERCASE_WORD.match(sentence)
        and not BULLET.match(sentence)
        and heading_kind(sentence.partition("\n")[0]) is None
        and not REFERENCE.search(sentence)
        and not HEAD_OF_REFERENCE.match(sentence)
        and _ends_as_statement(sentence)
    )


def is_separated(sentence: str, words: int) -> bool:
    """Check whether a sentence has hardly more words than separators."""
    separators = len(SEPARATOR.findall(sentence))
    return separators >= LEAST_SEPARATORS and separators >= LIST_SHARE * words


def repeats(sentence: str, question: str) -> bool:
    """Check whether a sentence has the words of the question and hardly any others."""
    own, asked = (Counter(WORD.findall(_folded(text))) for text in (sentence, question))
    different = (own - asked).total() + (asked - own).total()
    return different <= SAME_WORDS * (own.total() + asked.total())


def _ends_as_statement(sentence: str) -> bool:
    """Check the end of a statement: a full stop, in Korean after 다, 요 or a noun in -(으)ㅁ."""
    found = END.search(unicodedata.normalize("NFC", sentence))
    if not found:
        return False
    last = found["last"]
    if not "가" <= last <= "힣" or found["close"].strip():
        return bool(found["stop"])
    if not found["stop"]:
        return last == "다"
    return last in "다요" or (ord(last) - ord("가")) % FINALS == FINAL_M


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
