"""Example questions for an index, made from the titles of its papers.

A short title is put into a question; a longer one, which may be a sentence or a question itself, is an
example as it is.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Literal
from weakref import WeakKeyDictionary

from indexer.corpora.papers import language_of
from retriever.index import SearchIndex
from retriever.queries.boolean import EVERYTHING, And, Exact, Query, Range
from retriever.queries.filters import Filters

InterfaceLanguage = Literal["ko", "en"]

FORMS: Mapping[InterfaceLanguage, tuple[str, str, str]] = {
    "ko": (
        "{}에 대해 어떤 연구가 있는가?",
        "{}에 관한 연구에서 무엇이 밝혀졌는가?",
        "{}에 대해 알려진 것은 무엇인가?",
    ),
    "en": ("What research is there on {}?", "What has been found about {}?", "What is known about {}?"),
}
# A corpus is often sorted by subject, so its first papers alone would give a single subject.
YEARS = (2024, 2021, 2018, 2015, 2010)
OF_A_QUERY = 10
QUESTIONS = 3
FEWEST_LETTERS, LONGEST_TOPIC = 2, 80  # characters
LONGEST_IN_QUESTION = 4  # words of a topic that fits into a question
SHORT_WORD = 4  # letters of an English word that different subjects share, like with
SHORT_TITLE = 2  # words; such a title is often too general
SUBTITLE = re.compile(r" ?[:：—–] .*| - .*| ?[(\[（].*")

_OF_INDEX: WeakKeyDictionary[SearchIndex, dict[InterfaceLanguage, tuple[str, ...]]] = WeakKeyDictionary()


def example_questions(index: SearchIndex, language: InterfaceLanguage) -> tuple[str, ...]:
    """Return at most three questions for the index, always the same for one version.

    They are made from titles without subtitles, questions first, in the interface's language if the index
    contains any.
    """
    known = _OF_INDEX.setdefault(index, {})
    if language not in known:
        # The title of an article may be one word.
        short = SHORT_TITLE if index.manifest.unit == "paper" else 0
        topics = [_topic_of(title) for title in _titles(index, language)]
        topics.sort(key=lambda topic: (len(topic.split()) <= short, not topic.endswith("?")))
        known[language] = tuple(map(_example, _distinct(topics), range(QUESTIONS)))
    return known[language]


def _titles(index: SearchIndex, language: InterfaceLanguage) -> list[str]:
    """Return the titles of the first papers of some years in turn; of all years or languages if few fit."""
    own = Exact("lang", (language,))
    of_years: list[Query] = [And((Range(year, year), own)) for year in YEARS]
    queries = [(query, OF_A_QUERY) for query in (*of_years, own, EVERYTHING)]
    *found, in_language, others = index.engine.search(queries, filters=Filters(), collapse=True)
    names = [hit.passage_id for in_turn in zip_longest(*found) for hit in in_turn if hit]
    names += [hit.passage_id for hit in in_language]
    names += [] if len(names) > QUESTIONS else [hit.passage_id for hit in others]
    stored = index.engine.passages(names)
    return [stored[name].title for name in dict.fromkeys(names) if not stored[name].incomplete]


def _topic_of(title: str) -> str:
    """Return a title without its subtitle; "" if it is too long, or states no topic."""
    words = " ".join(title.split())
    topic = words if words.endswith("?") else SUBTITLE.sub("", words).rstrip(" .!…")
    return topic if sum(map(str.isalpha, topic)) >= FEWEST_LETTERS and len(topic) <= LONGEST_TOPIC else ""


def _distinct(topics: Iterable[str]) -> list[str]:
    """Return the topics that share no word with an earlier one, except short English words."""
    seen: set[str] = set()
    kept = []
    for topic in filter(None, topics):
        words = {word for word in topic.casefold().split() if len(word) > SHORT_WORD or not word.isascii()}
        if seen.isdisjoint(words | {topic.casefold()}):
            kept.append(topic)
            seen |= words | {topic.casefold()}
    return kept


def _example(topic: str, place: int) -> str:
    """Return a short topic in a question, a longer one as it is."""
    words = topic.split()
    if topic.endswith("?") or len(words) > LONGEST_IN_QUESTION:
        return topic
    form = FORMS["ko" if language_of(topic) == "ko" else "en"][place]
    is_capitalised = len(words) > 1 and words[0][1:].islower() and words[1].islower()
    return form.format(topic[:1].lower() + topic[1:] if is_capitalised else topic)
