"""How closely a passage speaks of a question: in one place of its text, in its title. Signs of an answer."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from rapidfuzz.distance import OSA

from retriever.order.candidates import Candidate
from retriever.order.concepts import Concept

WINDOW = 25  # positions: about a sentence and a half
LEAST_SIMILAR = 0.6  # of a title's word to a word of the question, by letters
TITLE_WORD = re.compile(r"[^\s()\[\]{}<>〈〉《》「」『』,.:;·\"'“”‘’!?]+")


def best_window(concepts: Sequence[Concept], candidate: Candidate) -> float:
    """Return the highest share of the question's importance that any window of the text covers."""
    total = sum(concept.importance for concept in concepts)
    events = candidate.occurrences({token for concept in concepts for token in concept.tokens})
    best, first = 0.0, 0
    inside: Counter[str] = Counter()
    for position, token in events:
        inside[token] += 1
        while events[first][0] < position - WINDOW:
            left = events[first][1]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first += 1
        if inside[token] == 1:
            best = max(best, sum(concept.coverage(inside) for concept in concepts))
    return best / total if total else 0.0


def title_similarity(concepts: Sequence[Concept], candidate: Candidate) -> float:
    """Return the importance of the concepts, each times its likeness to the title's word most like it."""
    total = sum(concept.importance for concept in concepts)
    letters = _letters(candidate.title)
    words = TITLE_WORD.findall(letters)
    words.append("".join(words))
    likeness = 0.0
    for concept in concepts:
        spelled = _letters(concept.text)
        similar = max(OSA.normalized_similarity(spelled, word) for word in words)
        likeness += concept.importance * (similar if similar >= LEAST_SIMILAR else 0.0)
    return likeness / total if total else 0.0


def _letters(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFD", text.lower())
