"""Words and phrases associated in papers with a title, or keyword lists, in both languages.

Frequent phrases of up to three words are counted, and phrases with the strongest mutual association are
linked: competitive linking (Melamed, Computational Linguistics 26:2, 2000) by Dice's coefficient.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from indexer.analysis.tokens import Analyzer, Token
from indexer.glossary.pairs import HANGUL, term_language

LONGEST_LIST = 60


def keyword_pairs(keywords: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs (Korean, English) of a list with a recognisable order, otherwise nothing.

    The languages alternate, or all terms of one language precede the same number of the other.
    """
    keywords = [keyword.strip() for keyword in keywords if keyword.strip()]
    languages = [term_language(keyword) for keyword in keywords]
    half, odd = divmod(len(keywords), 2)
    if odd or not 0 < half <= LONGEST_LIST // 2 or languages.count("ko") != half or None in languages:
        return []
    if all(one != other for one, other in zip(languages[::2], languages[1::2], strict=True)) and (
        len(set(languages[::2])) == 1
    ):
        matched = list(zip(keywords[::2], keywords[1::2], strict=True))
    elif len(set(languages[:half])) == 1:
        matched = list(zip(keywords[:half], keywords[half:], strict=True))
    else:
        return []
    return matched if languages[0] == "ko" else [(korean, english) for english, korean in matched]


LONGEST_PHRASE = 3
FEWEST_TITLES = 5
FEWEST_LETTERS = 3
LEAST_DICE = 0.8
NO_GAP = frozenset(("", " ", "-"))

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TitlePair:
    """The two titles of a paper, by its number in the corpus."""

    paper: int
    korean: str
    english: str


@dataclass(frozen=True, slots=True)
class Link:
    """A Korean and an English phrase, as written in the titles of `papers`."""

    korean: str
    english: str
    papers: tuple[int, ...]


def title_links(titles: Sequence[TitlePair], analyzer: Analyzer) -> list[Link]:
    """Return the phrases that are mutually best counterparts in at least five papers' titles."""
    korean = _frequent([_phrases(title.korean, analyzer, korean=True) for title in titles])
    english = _frequent([_phrases(title.english, analyzer, korean=False) for title in titles])
    korean_counts = Counter(phrase for phrases in korean for phrase in phrases)
    english_counts = Counter(phrase for phrases in english for phrase in phrases)
    together: Counter[tuple[Phrase, Phrase]] = Counter()
    for left, right in zip(korean, english, strict=True):
        together.update(product(left, right))
    dice = {
        (left, right): 2 * count / (korean_counts[left] + english_counts[right])
        for (left, right), count in together.items()
        if count >= FEWEST_TITLES
    }
    linked = {pair for pair in _competitive_links(dice) if dice[pair] >= LEAST_DICE}
    return list(_links(titles, korean, english, linked))


def _phrases(title: str, analyzer: Analyzer, *, korean: bool) -> dict[Phrase, str]:
    """Return the runs of words without a gap; on the Korean side nouns only."""
    runs: list[list[Token]] = [[]]
    for token in analyzer.analyze(title):
        surface = title[token[2] : token[3]]
        previous = runs[-1][-1] if runs[-1] else None
        as_written = surface == token[0] and HANGUL.search(surface) is not None
        if korean and not as_written:
            runs.append([])
            continue
        if previous and (token[1] != previous[1] + 1 or title[previous[3] : token[2]] not in NO_GAP):
            runs.append([])
        runs[-1].append(token)
    phrases: dict[Phrase, str] = {}
    for run in runs:
        for first in range(len(run)):
            for last in range(first, min(first + LONGEST_PHRASE, len(run))):
                written = title[run[first][2] : run[last][3]]
                if len(written) >= (2 if korean else FEWEST_LETTERS):
                    phrases.setdefault(tuple(token[0] for token in run[first : last + 1]), written)
    return phrases


def _frequent(titles: list[dict[Phrase, str]]) -> list[dict[Phrase, str]]:
    counts = Counter(phrase for phrases in titles for phrase in phrases)
    return [
        {phrase: written for phrase, written in phrases.items() if counts[phrase] >= FEWEST_TITLES}
        for phrases in titles
    ]


def _competitive_links(dice: dict[tuple[Phrase, Phrase], float]) -> Iterator[tuple[Phrase, Phrase]]:
    """Link each phrase at most once, best pairs first and longer ones among equals."""
    taken: tuple[set[Phrase], set[Phrase]] = (set(), set())
    for left, right in sorted(dice, key=lambda pair: (-dice[pair], -len(pair[0]) - len(pair[1]), pair)):
        if left not in taken[0] and right not in taken[1]:
            taken[0].add(left)
            taken[1].add(right)
            yield left, right


def _links(
    titles: Sequence[TitlePair],
    korean: list[dict[Phrase, str]],
    english: list[dict[Phrase, str]],
    linked: set[tuple[Phrase, Phrase]],
) -> Iterator[Link]:
    """Return the links in the most frequent spelling of their phrases."""
    counterpart = dict(linked)
    papers: dict[tuple[Phrase, Phrase], list[int]] = {}
    written: dict[tuple[Phrase, Phrase], Counter[tuple[str, str]]] = {}
    for title, left_phrases, right_phrases in zip(titles, korean, english, strict=True):
        for left, surface in left_phrases.items():
            right = counterpart.get(left)
            if right is not None and right in right_phrases:
                papers.setdefault((left, right), []).append(title.paper)
                written.setdefault((left, right), Counter())[surface, right_phrases[right]] += 1
    for pair in sorted(papers):
        shown = min(written[pair].items(), key=lambda item: (-item[1], item[0]))[0]
        yield Link(*shown, papers=tuple(papers[pair]))
