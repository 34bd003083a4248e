"""Texts that repeat the question instead of answering it.

A sentence repeats a question if it holds nearly all of its words in their order, among them a word that asks
with one of its neighbours: "It is known how does drainage change the yield of rice" for "How does drainage
change the yield of rice?". A statement has other words there, or another order. A relative clause is a
statement: "Jane Roe is the engineer who is the head of the dam" answers "Who is the head of the dam?". Only
questions of six words and more can be repeated: a sentence that answers may hold all words of a shorter one.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from indexer.corpora.chunking import split_sentences
from indexer.corpora.normal_forms import COMPARED_CHARACTERS, normal_words, words_in_order
from indexer.corpora.papers import language_of
from retriever.duplicates.statements import CHARACTERS, asks

FEWEST_WORDS, MOST_WORDS = 6, 40  # of a question; a longer one is a text, of which the paper itself is wanted
MOST_READ = 200  # words of a sentence
HELD = 0.8  # least share of the question's words; a Korean question and a statement end on different words
LEAST_BESIDE = 0.2  # share of the question's tokens that a passage holds beside its repetitions

ENGLISH_ASKING = frozenset("what which who whose whom why how when where".split())
# These ask at the beginning of a question.
ENGLISH_AUXILIARIES = frozenset(
    "do does did is are was were can could should would will may has have had".split()
)
# Relative pronouns, except at the start of a sentence or after a word of INTRODUCE_QUESTIONS.
RELATIVES = frozenset("who which whose whom why when where".split())
INTRODUCE_QUESTIONS = frozenset("that know known ask asks asked question unclear wonder".split())
KOREAN_ASKING = re.compile(r"(무엇|무슨|어떤|어떻|어떠|얼마|언제|어디|누구|누가|어느|몇|왜$)")
INDEFINITE = frozenset(("어떤", "어느", "몇"))  # "a certain", "some" beside another word that asks


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """The words of a question in their order, none of a short or very long one.

    Args:
        words: Korean words that ask without their endings.
        pairs: of neighbours, one of which asks.
        others: the words that do not ask.
        language: of the question.
        asks: whether it is a question by its form.
    """

    words: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    others: frozenset[str]
    language: str
    asks: bool

    @property
    def least(self) -> float:
        """The least number of its words that a sentence holds that repeats it."""
        return HELD * len(self.words)

    def is_held_by(self, words: Sequence[str]) -> bool:
        """Check whether a sentence holds nearly all words of the question in their order."""
        enough = bool(self.words) and len(words) >= self.least
        return enough and common_in_order(self.words, words) >= self.least

    def is_repeated_by(self, words: Sequence[str]) -> bool:
        """Check whether a sentence holds them, and a word that asks beside one of its neighbours."""
        asks_here = any(
            pair in self.pairs and not _is_relative(words, place) and not _is_relative(words, place + 1)
            for place, pair in enumerate(pairwise(words))
        )
        return asks_here and self.is_held_by(words)

    def may_be_held_by(self, title: str, text: str) -> bool:
        """Check, at less cost, whether a passage holds enough words of the question in any order."""
        if len(text) > COMPARED_CHARACTERS:
            return bool(self.words)
        lacking = self.others - normal_words(text) - normal_words(title)
        return bool(self.words) and len(lacking) <= len(self.words) - self.least


@lru_cache(maxsize=100)
def asked_question(question: str) -> AskedQuestion:
    """Find the words of a question."""
    words = tuple(_words(question))
    if not FEWEST_WORDS <= len(words) <= MOST_WORDS:
        words = ()
    asking = {word for word in words if _asks(word)}
    asking = asking - INDEFINITE or asking
    pairs = frozenset(
        pair
        for place, pair in enumerate(pairwise(words))
        if not asking.isdisjoint(pair) or (place == 0 and pair[0] in ENGLISH_AUXILIARIES)
    )
    others = frozenset(words) - asking
    return AskedQuestion(words, pairs, others, language_of(question), asks(question))


def repeats_question(sentence: str, question: AskedQuestion) -> bool:
    """Check whether a sentence repeats a question of six words or more."""
    return bool(question.pairs) and question.is_repeated_by(_words(sentence))


def only_repeats(
    title: str, text: str, question: AskedQuestion, tokens_of: Callable[[str], Set[str]]
) -> bool:
    """Check whether a passage holds the question and hardly any of its words elsewhere.

    A title alone counts if the text is in the question's language. Sentences that hold the words of a
    question, but none that asks, may be answers, and count if there are two of them.

    Args:
        title: of the passage.
        text: of the passage.
        question: the question.
        tokens_of: the distinct tokens of a text.
    """
    if not question.may_be_held_by(title, text):
        return False
    sentences = [text[start:end] for start, end in split_sentences(text[:CHARACTERS])]
    written = [_words(sentence) for sentence in (title, *sentences)]
    held = [question.is_held_by(words) for words in written]
    if not (any(held[1:]) or (held[0] and language_of(text) == question.language)):
        return False
    if not (any(map(question.is_repeated_by, written)) or (question.asks and sum(held) > 1)):
        return False
    asked = Counter(question.words)
    beside = [
        (Counter(words) - asked).elements() if is_held else words
        for words, is_held in zip(written, held, strict=True)
    ]
    # The last word of a Korean question has another ending in a repetition.
    wanted = tokens_of(" ".join(word for word in question.words[:-1] if not _asks(word)))
    return len(wanted & tokens_of(". ".join(map(" ".join, beside)))) < LEAST_BESIDE * len(wanted)


def common_in_order(words: Sequence[str], others: Sequence[str]) -> int:
    """Return the length of the longest common subsequence (Hyyrö, bit-parallel LCS, AWOCA 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        places[word] = places.get(word, 0) | 1 << place
    everywhere = (1 << len(words)) - 1
    missing = everywhere
    for word in others:
        found = missing & places.get(word, 0)
        missing = ((missing + found) | (missing - found)) & everywhere
    return len(words) - missing.bit_count()


def _words(text: str) -> list[str]:
    """Return the first words of a sentence; Korean question words without their endings."""
    words = words_in_order(text)[:MOST_READ]
    return [found[1] if (found := KOREAN_ASKING.match(word)) else word for word in words]


def _is_relative(words: Sequence[str], place: int) -> bool:
    """Check whether a word is the first of a relative clause: "the coach who is", "the year when it"."""
    if place == 0 or words[place] not in RELATIVES or words[place - 1] in INTRODUCE_QUESTIONS:
        return False
    following = words[place + 1] if place + 1 < len(words) else ""
    return words[place] in {"who", "which"} or following not in ENGLISH_AUXILIARIES


def _asks(word: str) -> bool:
    return word in ENGLISH_ASKING or KOREAN_ASKING.fullmatch(word) is not None
