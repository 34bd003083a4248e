"""What a passage has in common with a question beyond BM25: features for the lexical order of candidates.

A question is taken as concepts: each word of it with its spelling variants and its translations into the
other language. A passage covers a concept by any of these. Features lie between 0 and about 1, the base up
to 2.2.
"""

import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import compress, pairwise
from typing import TypeAlias

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from indexer.analysis import Token
from indexer.packing import GAP, PassageTokens
from indexer.schema import BM25_B, BM25_K1

WINDOW = 25  # positions: about a sentence and a half
NEAR = 8  # positions within which two words are near each other
LEAD = 15  # positions behind the title
APART = 100  # positions between a passage and its title in the other language, so that no window spans both
FEEDBACK_PASSAGES, FEEDBACK_TERMS = 10, 40
LEAST_SIMILAR = 0.6  # of a title's word to a word of the question, by letters
TITLE_WORD = re.compile(r"[^\s()\[\]{}<>〈〉《》「」『』,.:;·\"'“”‘’!?]+")

Covered: TypeAlias = Callable[[frozenset[str]], float]  # tokens to the weight of what they cover


@dataclass(frozen=True, slots=True)
class Concept:
    """A word of the question: its text, and all tokens that stand for it with their weights (idf)."""

    text: str
    tokens: Mapping[str, float]
    weight: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its tokens; `score` is the engine's over what is attainable.

    `title` holds the paper's title in the other language too, whose tokens count as standing far behind the
    text.
    """

    passage_id: str
    title: str
    tokens: PassageTokens
    score: float

    def words(self) -> list[str]:
        """Return the terms of title, text and other title, some of them GAP."""
        return self.tokens.text.words() + self.tokens.title2.words()

    def occurrences(self, wanted: Container[str]) -> tuple[int, list[tuple[int, str]]]:
        """Return the number of tokens, and (position, term) of the wanted ones in order."""
        text, title2 = self.tokens.text, self.tokens.title2
        if not (text.positions or title2.terms):
            words = text.words()
            found = list(compress(enumerate(words), map(wanted.__contains__, words)))
            return len(words) - words.count(GAP), found
        tokens = [(position, term) for term, position in text.unpack()]
        behind = (tokens[-1][0] if tokens else 0) + APART
        tokens += [(behind + position, term) for term, position in title2.unpack()]
        return len(tokens), [token for token in tokens if token[1] in wanted]


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one candidate."""

    base: float  # the engine's score over the idf of all that was searched for
    coverage: float  # share of the question's weight that the passage holds
    window: float  # the same within the best window of the text
    near: float  # adjacent words of the question that stand near each other
    numbers: float  # numbers of the question that stand beside the same word
    feedback: float  # terms of the best passages (RM3's, without its second search)
    title: float  # similarity of the title's words to the question's, by letters
    brevity: float  # share of the title's tokens that the question names
    lead: float  # coverage of the first words

    def values(self) -> tuple[float, ...]:
        """Return the features in order."""
        return tuple(getattr(self, name) for name in FEATURES)


FEATURES = tuple(field.name for field in fields(Features))


def features(
    question: Sequence[Token],
    concepts: Sequence[Concept],
    candidates: Sequence[Candidate],
    rarity: Mapping[str, float],
    *,
    unweighted: bool = True,
) -> list[Features]:
    """Compute the features of candidates, which come in the order of their score.

    `rarity` holds the idf of the best passages' terms (see `feedback_tokens`); terms that stand in one
    passage alone are best left out of it. Without `unweighted`, `near` and `title`, which no order weighs,
    are 0.
    """
    if not candidates:
        return []
    asked = _Question.of(question, concepts)
    expansion = _feedback_terms(candidates, rarity)
    wanted = asked.weights.keys() | expansion.keys()
    read = [candidate.occurrences(wanted) for candidate in candidates]
    average = sum(length for length, _ in read) / len(candidates) or 1.0
    titles = (
        _title_similarities({candidate.title for candidate in candidates}, concepts) if unweighted else {}
    )
    return [
        _features_of(
            candidate,
            occurrences,
            asked,
            expansion,
            saturation=BM25_K1 * (1 - BM25_B + BM25_B * length / average),
            title=titles.get(candidate.title, 0.0),
            unweighted=unweighted,
        )
        for candidate, (length, occurrences) in zip(candidates, read, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Question:
    """What the features of all candidates are compared with."""

    weights: Mapping[str, float]  # of each token, the highest of the concepts it stands for
    total: float  # of the concepts' weights
    pairs: Sequence[tuple[str, str, int, float]]
    paired: float  # of the pairs' weights
    numbered: Sequence[tuple[str, str]]
    covered: Covered

    @classmethod
    def of(cls, question: Sequence[Token], concepts: Sequence[Concept]) -> "_Question":
        weights: dict[str, float] = {}
        for concept in concepts:
            for token, weight in concept.tokens.items():
                weights[token] = max(weight, weights.get(token, 0.0))
        pairs = _pairs(question, weights)
        return cls(
            weights,
            total=sum(concept.weight for concept in concepts) or 1.0,
            pairs=pairs,
            paired=sum(weight for *_, weight in pairs) or 1.0,
            numbered=_numbered(pairs),
            covered=_coverage(concepts),
        )


def _features_of(
    candidate: Candidate,
    occurrences: Sequence[tuple[int, str]],
    asked: _Question,
    expansion: Mapping[str, float],
    *,
    saturation: float,
    title: float,
    unweighted: bool,
) -> Features:
    standing: dict[str, list[int]] = {}
    for position, term in occurrences:
        if term in standing:
            standing[term].append(position)
        else:
            standing[term] = [position]
    events = [event for event in occurrences if event[1] in asked.weights]
    places = {term: at for term, at in standing.items() if term in asked.weights}
    title_words = candidate.tokens.title.words()
    lead = len(title_words) - title_words.count(GAP) + LEAD
    title_terms = set(title_words) - {GAP}
    coverage = asked.covered(frozenset(places))
    in_lead = asked.covered(frozenset([token for position, token in events if position <= lead]))
    return Features(
        base=candidate.score,
        coverage=coverage / asked.total,
        window=_best_window(asked.covered, events, coverage) / asked.total,
        near=_near(asked.pairs, places, saturation) / asked.paired if unweighted else 0.0,
        numbers=_numbers(asked.numbered, places),
        feedback=_feedback(expansion, standing, saturation),
        title=title / asked.total,
        brevity=len(title_terms & asked.weights.keys()) / (len(title_terms) or 1),
        lead=in_lead / asked.total,
    )


def _coverage(concepts: Sequence[Concept]) -> Covered:
    """Return what sums the weight of the concepts that tokens cover, each set of tokens once.

    A concept counts by its tokens, its own or its counterparts', and no more than its weight.
    """
    known: dict[frozenset[str], float] = {}
    parts = [(concept.weight, tuple(concept.tokens.items())) for concept in concepts]
    holding: dict[str, list[int]] = defaultdict(list)  # the concepts that a token stands for
    for place, concept in enumerate(concepts):
        for token in concept.tokens:
            holding[token].append(place)

    def covered(held: frozenset[str]) -> float:
        total = known.get(held)
        if total is None:
            total = 0.0
            for place in sorted({place for token in held for place in holding[token]}):
                most, tokens = parts[place]
                covering = 0.0
                for token, weight in tokens:
                    if token in held:
                        covering += weight
                total += min(most, covering)
            known[held] = total
        return total

    return covered


def _best_window(covered: Covered, events: Sequence[tuple[int, str]], most: float) -> float:
    """Return the highest coverage of any window of the text; `most` is that of the whole text."""
    inside: dict[str, int] = {}
    best, first = 0.0, 0
    for position, token in events:
        while events[first][0] < position - WINDOW:
            left = events[first][1]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first += 1
        if token in inside:  # nothing is covered that was not before
            inside[token] += 1
            continue
        inside[token] = 1
        best = max(best, covered(frozenset(inside)))
        if best == most:
            break
    return best


def _pairs(question: Sequence[Token], weights: Mapping[str, float]) -> list[tuple[str, str, int, float]]:
    """List the question's neighbouring words as (first, second, gap, weight)."""
    known = [token for token in question if token[0] in weights]
    return [
        (one[0], other[0], other[1] - one[1], (weights[one[0]] + weights[other[0]]) / 2)
        for one, other in pairwise(known)
        if one[0] != other[0] and other[1] - one[1] <= 2  # noqa: PLR2004 - one dropped word between them
    ]


def _near(
    pairs: Sequence[tuple[str, str, int, float]], places: Mapping[str, list[int]], saturation: float
) -> float:
    """Return the weight of the pairs that stand near each other, the more often the more."""
    score = 0.0
    for first, second, _, weight in pairs:
        if first in places and second in places:
            others = places[second]
            count = sum([_any_within(others, position) for position in places[first]])
            score += weight * count / (count + saturation)
    return score


def _any_within(positions: Sequence[int], position: int) -> bool:
    index = bisect_left(positions, position - NEAR)
    return index < len(positions) and positions[index] <= position + NEAR


def _numbered(pairs: Sequence[tuple[str, str, int, float]]) -> list[tuple[str, str]]:
    """Return the pairs of a number and the word beside it."""
    return [
        (one, other) for one, other, gap, _ in pairs if gap == 1 and (one.isdecimal() or other.isdecimal())
    ]


def _numbers(pairs: Sequence[tuple[str, str]], places: Mapping[str, list[int]]) -> float:
    """Return the share of the question's number-and-word pairs that stand together in the passage."""
    held = 0
    for first, second in pairs:
        if first in places and second in places:
            held += not {position + 1 for position in places[first]}.isdisjoint(places[second])
    return held / len(pairs) if pairs else 0.0


def feedback_tokens(candidates: Sequence[Candidate]) -> set[str]:
    """Return the terms of the best passages, whose rarity `features` wants to know."""
    return {word for candidate in candidates[:FEEDBACK_PASSAGES] for word in candidate.words()} - {GAP}


def _feedback_terms(candidates: Sequence[Candidate], rarity: Mapping[str, float]) -> dict[str, float]:
    """Weigh the terms of the best passages by their share of the scores (relevance model 1) and rarity."""
    best = candidates[:FEEDBACK_PASSAGES]
    mass = sum(candidate.score for candidate in best) or 1.0
    weighed: dict[str, float] = defaultdict(float)
    for candidate in best:
        counts = Counter(candidate.words())
        del counts[GAP]
        share = candidate.score / mass / (counts.total() or 1)
        for token, count in counts.items():
            weighed[token] += share * count * rarity.get(token, 0.0)
    ranked = sorted(weighed.items(), key=lambda item: (-item[1], item[0]))[:FEEDBACK_TERMS]
    strengths = {token: value * rarity.get(token, 0.0) for token, value in ranked}
    total = sum(strengths.values()) or 1.0
    return {token: value / total for token, value in strengths.items()}


def _feedback(expansion: Mapping[str, float], standing: Mapping[str, list[int]], saturation: float) -> float:
    counts = [(expansion[term], len(at)) for term, at in standing.items() if term in expansion]
    return sum([weight * count / (count + saturation) for weight, count in counts])


def _title_similarities(titles: Iterable[str], concepts: Sequence[Concept]) -> dict[str, float]:
    """Sum for each title the weights of the concepts, each times its similarity to the word most like it."""
    spelled = {title: _spelled(title) for title in titles}
    holding: dict[str, list[str]] = defaultdict(list)  # the titles that a word stands in
    for title, parts in spelled.items():
        for part in parts:
            holding[part].append(title)
    by_length: dict[int, list[str]] = defaultdict(list)
    for word in holding:
        by_length[len(word)].append(word)
    found = dict.fromkeys(spelled, 0.0)
    for concept in concepts:
        letters = _letters(concept.text)
        # Words shorter or longer than this are too unlike whatever their letters.
        least, most = math.floor(len(letters) * LEAST_SIMILAR), math.ceil(len(letters) / LEAST_SIMILAR)
        words = [word for length, alike in by_length.items() if least <= length <= most for word in alike]
        best: dict[str, float] = {}
        for word, similarity, _ in extract(
            letters, words, scorer=OSA.normalized_similarity, score_cutoff=LEAST_SIMILAR, limit=None
        ):
            for title in holding[word]:
                best[title] = max(similarity, best.get(title, 0.0))
        for title, similarity in best.items():
            found[title] += concept.weight * similarity
    return found


def _spelled(title: str) -> tuple[str, ...]:
    """Return the letters of a title's words, and of all of them in one."""
    parts = TITLE_WORD.findall(_letters(title))
    return (*parts, "".join(parts))


def _letters(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFD", text.lower())
