"""Example questions for an index, made from the keywords and titles of its papers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Literal
from weakref import WeakKeyDictionary

from indexer.corpora.papers import Unit, language_of
from indexer.files.schema import StoredPassage
from retriever.engines.term_statistics import term_statistics
from retriever.index import OpenIndex, SearchIndex
from retriever.queries.boolean import EVERYTHING, Exact, Query, Range
from retriever.queries.filters import Filters

InterfaceLanguage = Literal["ko", "en"]

FORMS: Mapping[tuple[InterfaceLanguage, Unit], tuple[str, str, str]] = {
    ("ko", "paper"): (
        "{}에 대해 어떤 연구가 있는가?",
        "{}에 관한 연구에서 무엇이 밝혀졌는가?",
        "{}에 대해 알려진 것은 무엇인가?",
    ),
    ("en", "paper"): (
        "What research is there on {}?",
        "What has been found about {}?",
        "What is known about {}?",
    ),
    ("ko", "passage"): (
        "{}에 대해 알려진 것은 무엇인가?",
        "{}에 대해 어떤 글이 있는가?",
        "{}에 관한 글은 무엇을 다루는가?",
    ),
    ("en", "passage"): (
        "What is known about {}?",
        "What is there to read about {}?",
        "What do the texts say about {}?",
    ),
}
# A corpus is often sorted by subject, so its first papers alone would give a single subject.
YEARS = (2024, 2021, 2018, 2015, 2010)
FIRST, OF_A_YEAR = 30, 10
QUESTIONS = 3
FEWEST_LETTERS, LONGEST_TOPIC = 2, 60  # characters
LONGEST_TITLE, MOST_KEYWORDS = 1_000, 20  # characters; keywords read of a paper
FEWEST_HOLDING, MOST_SHARE = 2, 0.1  # passages, and share of all, that contain the rarest word of a keyword
SUBTITLE = re.compile(r" ?[:：—–] .*| - .*| ?[(\[（].*")

_OF_INDEX: WeakKeyDictionary[SearchIndex, dict[InterfaceLanguage, tuple[str, ...]]] = WeakKeyDictionary()


async def example_questions(index: OpenIndex, language: InterfaceLanguage) -> tuple[str, ...]:
    """Return at most three questions for the index, always the same for one version.

    Their topics are keywords that several papers share, else titles, in the interface's language if the index
    contains any.
    """

    async def of_version(version: SearchIndex) -> tuple[str, ...]:
        known = _OF_INDEX.setdefault(version, {})
        if language not in known:
            known[language] = await _questions(version, language)
        return known[language]

    return await index.ask(of_version)


async def _questions(index: SearchIndex, language: InterfaceLanguage) -> tuple[str, ...]:
    papers = await _sample(index, language)
    shared = await _shared_keywords(index, papers, language)
    titles = (_topic_of(paper.title) for paper in papers)
    topics = _distinct([*shared, *(title for title in titles if title)])
    forms = FORMS[language, index.manifest.unit]
    return tuple(form.format(topic) for form, topic in zip(forms, topics, strict=False))


async def _sample(index: SearchIndex, language: InterfaceLanguage) -> list[StoredPassage]:
    """Return the passages with the first ids of each of some years, in turn; of all years if too few fit.

    The selection is made here, because filtering in the engine takes several times as long.
    """
    of_years = await _first(index, [Range(year, year) for year in YEARS], OF_A_YEAR)
    usable = [passage for passage in of_years if passage.lang == language]
    if len(usable) < QUESTIONS:
        usable += await _first(index, [Exact("lang", (language,))], FIRST)
    return usable or of_years or await _first(index, [EVERYTHING], FIRST)


async def _first(index: SearchIndex, queries: Sequence[Query], k: int) -> list[StoredPassage]:
    found = await index.engine.search([(query, k) for query in queries], filters=Filters(), collapse=True)
    names = ([hit.passage_id for hit in hits] for hits in found)
    wanted = [name for in_turn in zip_longest(*names) for name in in_turn if name]
    stored = await index.engine.passages(wanted)
    return [stored[name] for name in wanted if not stored[name].incomplete]


async def _shared_keywords(
    index: SearchIndex, papers: Sequence[StoredPassage], language: InterfaceLanguage
) -> list[str]:
    """Return each paper's longest keyword (by words) that several, but not too many, passages contain.

    Keywords that several papers share come first.
    """
    keywords = [
        [text for text in _keywords(paper) if language_of(text) == language and _topic_of(text) == text]
        for paper in papers
    ]
    every = [text for texts in keywords for text in dict.fromkeys(texts)]
    tokens = await index.threads.run(
        lambda: {text: frozenset(token[0] for token in index.analyzer.analyze(text)) for text in every}
    )
    statistics = await term_statistics(index.engine, {token for of in tokens.values() for token in of})
    most = max(FEWEST_HOLDING, MOST_SHARE * statistics.passages)

    def held(text: str) -> int:
        return min((statistics.frequencies[token] for token in tokens[text]), default=0)

    usable = ([text for text in texts if FEWEST_HOLDING <= held(text) <= most] for texts in keywords)
    best = [max(texts, key=lambda text: (len(tokens[text]), held(text))) for texts in usable if texts]
    return sorted(dict.fromkeys(best), key=lambda text: -every.count(text))


def _keywords(paper: StoredPassage) -> list[str]:
    found = (paper.paper or {}).get("keywords") or []
    return [" ".join(text.split()) for text in found[:MOST_KEYWORDS] if isinstance(text, str)]


def _topic_of(title: str) -> str:
    """Return a title without its subtitle; "" if it is too long, or states no topic."""
    topic = SUBTITLE.sub("", " ".join(title.split())[:LONGEST_TITLE]).rstrip(" .?!…")
    letters = sum(map(str.isalpha, topic))
    return topic if letters >= FEWEST_LETTERS and len(topic) <= LONGEST_TOPIC else ""


def _distinct(topics: Iterable[str]) -> Iterator[str]:
    """Yield the topics that share no word with an earlier one."""
    seen: set[str] = set()
    for topic in topics:
        words = set(topic.casefold().split())
        if not words & seen:
            seen |= words
            yield topic
