"""Keywords from statistics: a question's words, rarest first, and their translations into the other language.

A keyword from the question keeps its tokens from the one analysis of the whole question: a word alone is
often analysed differently than in its sentence.
"""

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from operator import itemgetter
from typing import Any, Literal

from indexer.analysis import Analyzer, Token
from indexer.glossary.storage import Glossary
from indexer.papers import Language, language_of
from retriever.queries import Term

KEYWORDS = 10  # k1 … k10 (SHRAG, section 3.1)
MOST_TRANSLATED = 5  # at most, of the words of each role

WORD = re.compile(
    r"[^\s()\[\]{}<>〈〉《》「」『』〔〕,.:;·\"'“”‘’!?…~/|]+"
    r"(?:['’.\-+#/&][^\s()\[\]{}<>,.:;\"'“”!?]+)*"
)

# Where a translation comes from: a tier of the glossary, another form of the word, or the user's synonyms.
Origin = Literal["user", "corpus", "general", "abbreviation", "sound", "synonym"]
TIERS: Mapping[str, Origin] = {"user": "user", "general": "general"}


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word to search for: as shown, its tokens, and its importance for the question."""

    text: str
    language: Language
    tokens: tuple[str, ...]
    weight: float = 0.0

    def term(self) -> Term:
        """Make the clause that looks for it."""
        return Term(self.text, self.tokens)

    def as_record(self) -> dict[str, Any]:
        """Return the keyword as the contract's JSON."""
        return {"text": self.text, "language": self.language, "weight": round(self.weight, 4)}


def words_of(question: str, tokens: Iterable[Token]) -> list[Keyword]:
    """Cut a question into words with some tokens of its one analysis; words of the same tokens come once."""
    question = unicodedata.normalize("NFC", question)
    words: dict[tuple[str, ...], Keyword] = {}
    ordered = sorted(tokens, key=itemgetter(2))
    starts = [token[2] for token in ordered]
    for match in WORD.finditer(question):
        begun = ordered[bisect_left(starts, match.start()) : bisect_left(starts, match.end())]
        inside = [token for token in begun if token[3] <= match.end()]
        if not inside:
            continue
        text = question[inside[0][2] : max(token[3] for token in inside)]
        distinct = tuple(dict.fromkeys(token[0] for token in inside))
        words.setdefault(distinct, Keyword(text, language_of(text), distinct))
    return list(words.values())


def term_entropy(frequencies: Sequence[int]) -> float:
    """Return the entropy, in nats, of a term over the passages that hold it; low is specific."""
    total = sum(frequencies)
    return -sum(tf / total * math.log(tf / total) for tf in frequencies if tf) if total else 0.0


@dataclass(frozen=True, slots=True)
class Translation:
    """What stands for some tokens of the question: words of the other language, synonyms, other forms.

    `text` is what stands in the question, where that is told to the reader.
    """

    source: frozenset[str]
    words: tuple[Keyword, ...]
    origin: Origin = "corpus"
    text: str = ""

    @property
    def others(self) -> str:
        """What stands for the tokens, as a reader writes it."""
        return " ".join(word.text for word in self.words)

    @property
    def note(self) -> str:
        """What a reader is told of another form."""
        by_sound = " (by its sound)" if self.origin == "sound" else ""
        return f"{self.text} is also searched for as {self.others}{by_sound}"


def translations(tokens: Sequence[Token], glossary: Glossary, analyzer: Analyzer) -> list[Translation]:
    """Look the question's words up in the corpus's glossary; a compound comes as its words (section 3.1)."""
    found = []
    terms = [token[0] for token in tokens]
    for match in glossary.translations(terms):
        pair, target, own = match.pair, match.target, match.other_tokens
        text = pair.english if target == "en" else pair.korean
        split = tuple(words_of(text, analyzer.analyze(text))) if len(own) > 1 else ()
        origin = TIERS.get(pair.sources[0], "corpus")
        source = frozenset(terms[match.start : match.end])
        found.append(Translation(source, split or (Keyword(text, target, own),), origin))
    return found


def merge(own: Sequence[Keyword], other: Sequence[Keyword]) -> list[Keyword]:
    """Merge two ranked lists in turn, the question's language first; what stands in both comes once."""
    merged: dict[tuple[str, ...], Keyword] = {}
    for index in range(max(len(own), len(other))):
        for ranked in (own, other):
            if index < len(ranked):
                merged.setdefault(ranked[index].tokens, ranked[index])
    return list(merged.values())


def token_weights(keywords: Iterable[Keyword]) -> dict[str, float]:
    """Give each token the weight of its keyword, 1 where that has none; of several the highest."""
    weights: dict[str, float] = {}
    for keyword in keywords:
        for token in keyword.tokens:
            weights[token] = max(keyword.weight or 1.0, weights.get(token, 0.0))
    return weights


def weigh(keywords: Iterable[Keyword], weights: Mapping[str, float]) -> list[Keyword]:
    """Give each keyword the mean of its tokens' weights, and order by it, the order given deciding ties.

    The mean, since a compound of common words (기후변화) is no rarer than they are.
    """
    weighed = [
        replace(keyword, weight=fsum(weights[token] for token in keyword.tokens) / len(keyword.tokens))
        for keyword in keywords
    ]
    return sorted(weighed, key=lambda keyword: -keyword.weight)
