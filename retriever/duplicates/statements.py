"""Texts that state something, as evidence must, and not only ask or list words.

Judged by form alone: a question by its mark, the order of its English words or its Korean ending, a list by
its separators or by the lack of the small words that make a sentence. Thresholds are set on the training
collections.
"""

from base.letters import HANGUL
from base.patterns import lazy_regex
from indexer.analysis.english import STOP_WORDS
from indexer.analysis.word_roles import ENGLISH
from indexer.corpora.chunking import split_sentences
from indexer.corpora.papers import language_of
from retriever.duplicates.english_questions import begins_asking

MOST_UNSTATED = 0.5  # share of a text that questions and lists may take up
CHARACTERS = 10_000  # of a text that are read
# Least number of separators in a list, and least share by its words; a text with more numbers is a table.
LEAST_SEPARATORS, LIST_SHARE = 5, 0.4
MOST_NUMBERS = 0.05
# Least number of words in a list without separators, and least share of small words in a sentence.
LEAST_LISTED = 20
SMALL_SHARE = {"ko": 0.15, "en": 0.1}
# Least number of question words in a series of questions without stops, and most words for each.
LEAST_ASKING, WORDS_A_QUESTION = 3, 25

WORD = lazy_regex(r"\w+")
SEPARATOR = lazy_regex(r"[,;·•|/、，；]")
CLOSING = r"[.!…。\s\"'”’»)\]〉》」』】]*"
STOP = lazy_regex(r"[.!;]\s+(?=\w)")
LOWER_CASE = lazy_regex(r"[\W\d]*[a-z](?![a-z]?[A-Z0-9])")  # but mRNA and p53 start sentences
MARK = lazy_regex(rf"[?？]{CLOSING}$")
SMALL_ENGLISH = STOP_WORDS | frozenset(ENGLISH["asking"].split())
SMALL_KOREAN = lazy_regex(r"(?:[은는이가을를의에로와과도만며고다여해한할된인면지게서던려록까요음함]|하여)$")
WITH_FINAL_N, WITH_FINAL_L, WITH_FINAL_B = (
    "".join(chr(ord("가") + 28 * syllable + final) for syllable in range(399)) for final in (4, 8, 17)
)
# 줄어드는가, 필요한가, 무엇인가, 빠른가; but 단가, 원가, 전문가 and 예비인가 are nouns.
ENDING_GA = r"(?:[은는던한른린닌운런떤큰쁜픈싼]|(?<!예비)(?<!\b본)(?<!\b재)(?<!\b설립)인)가"
# 높을까, 줄었나요, 좋습니까, 어딘가요; but 일어나요, 때문이니까 (because) and 가요 (songs) do not ask.
OTHER_ENDINGS = "|".join(
    [
        rf"[{WITH_FINAL_L}]까요?",
        rf"[{WITH_FINAL_B}]니까",
        rf"[{WITH_FINAL_N}]가요",
        "[가-힣](?<![어타라끝만떠빛])나요",
        "[가-힣]느냐",
    ]
)
KOREAN_QUESTION = rf"(?:\w{ENDING_GA}|{OTHER_ENDINGS})\b"
KOREAN_ASKING = lazy_regex(KOREAN_QUESTION)
ENDS_ASKING = lazy_regex(rf"{KOREAN_QUESTION}{CLOSING}$")
AUXILIARY = "(?:do|does|did|is|are|was|were|can|could|should|would|has|have|had)"
# Within a sentence; "which is" and "that does" are no questions.
ASKING = lazy_regex(
    r"\b(?:How|What|Which|Why|Who|When|Where|Do|Does|Did|Is|Are|Can|Could|Should)\b"
    rf"|\b(?:how|what|why|where|when) (?:\w+ly )?{AUXILIARY}\b|\bhow (?:much|many)\b"
)


def states_something(text: str) -> bool:
    """Check whether questions and lists take up at most half of a text."""
    sentences = [text[start:end] for start, end in split_sentences(text[:CHARACTERS])]
    unstated = sum(len(sentence) for sentence in sentences if _asks_within(sentence) or lists(sentence))
    return unstated <= MOST_UNSTATED * sum(map(len, sentences))


def asks(sentence: str) -> bool:
    """Check whether a sentence is a question, or a series of questions."""
    return begins_asking(sentence) or _asks_wherever_it_begins(sentence)


def _asks_within(sentence: str) -> bool:
    """Check whether a sentence of a text is a question.

    One without a capital is the end of a sentence whose beginning was cut off, by a chunk or behind an
    abbreviation, so the order of its words says nothing. Or it is a text without capitals, which is not split
    into sentences: three and more that end with stops, most of which ask.
    """
    if not LOWER_CASE.match(sentence):
        return asks(sentence)
    parts = STOP.split(sentence)
    asking = sum(map(begins_asking, parts)) if len(parts) >= LEAST_ASKING else 0
    return asking > MOST_UNSTATED * len(parts) or _asks_wherever_it_begins(sentence)


def _asks_wherever_it_begins(sentence: str) -> bool:
    has_hangul = HANGUL.search(sentence) is not None  # else Korean questions need not be searched for
    if MARK.search(sentence) or (has_hangul and ENDS_ASKING.search(sentence)):
        return True
    asking = len(ASKING.findall(sentence)) + (len(KOREAN_ASKING.findall(sentence)) if has_hangul else 0)
    return asking >= LEAST_ASKING and asking * WORDS_A_QUESTION >= len(WORD.findall(sentence))


def is_separated(sentence: str) -> bool:
    """Check whether a sentence has hardly more words than separators."""
    separators = len(SEPARATOR.findall(sentence))
    return separators >= LEAST_SEPARATORS and separators >= LIST_SHARE * len(WORD.findall(sentence))


def lists(sentence: str) -> bool:
    """Check whether a sentence is a list of words, with separators or without."""
    words = WORD.findall(sentence)
    if sum(map(_has_digit, words)) > MOST_NUMBERS * len(words):
        return False
    if is_separated(sentence):
        return True
    if len(words) < LEAST_LISTED:
        return False
    if language_of(sentence) == "ko":
        small = sum(bool(SMALL_KOREAN.search(word)) for word in words)
        return small < SMALL_SHARE["ko"] * len(words)
    return sum(word.casefold() in SMALL_ENGLISH for word in words) < SMALL_SHARE["en"] * len(words)


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))
