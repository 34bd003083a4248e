"""Terms of a claim found in passages: as they are, and across languages by the pairs of the glossary.

The claim "회복탄력성" matches "resilience". A pair is looked up from either side: the glossary translates
의사 as "physician", but "doctor" as 의사.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from generator.checking.text.clauses import Clause, Text
from indexer.analysis.tokens import Analyzer, Token
from indexer.glossary.storage import Glossary
from indexer.glossary.transliteration import sounds_like

LEAST_SHARED = 2  # matches that make two clauses similar
NEARLY_AS_SIMILAR = 0.75  # of the matches of the most similar clause; such clauses are compared too

Translation = tuple[tuple[str, ...], tuple[str, ...]]  # terms of a text, and of the other language


def translations_of(text: Text, glossary: Glossary) -> frozenset[Translation]:
    """Return the glossary's translations of a text's terms."""
    words = [token[0] for token in text.tokens]
    return frozenset(
        (tuple(words[match.start : match.end]), tuple(match.other_tokens))
        for match in glossary.translations(words)
    )


class TermMatcher:
    """Matches the tokens of a claim with terms of passages, themselves or by their translations."""

    def __init__(
        self, tokens: Sequence[Token], glossary: Glossary, translations: Iterable[Translation] = ()
    ) -> None:
        """Look up all tokens of a claim; `translations`: of the passages' terms."""
        words = [token[0] for token in tokens]
        self._others: dict[tuple[int, int], set[frozenset[str]]] = {}  # translations by span
        self._own: dict[tuple[int, int], tuple[str, ...]] = {}
        self._technical: set[tuple[int, int]] = set()  # spans of terms that papers list as keywords or titles
        for match in glossary.translations(words):
            span = self._add(tokens, match.start, match.end, match.other_tokens)
            if not {"keywords", "title", "user"}.isdisjoint(match.pair.sources):
                self._technical.add(span)
        by_first: dict[str, list[Translation]] = {}
        for theirs, ours in translations:
            by_first.setdefault(ours[0], []).append((theirs, ours))
        for start, word in enumerate(words):
            for theirs, ours in by_first.get(word, ()):
                if tuple(words[start : start + len(ours)]) == ours:
                    self._add(tokens, start, start + len(ours), theirs)

    def _add(self, tokens: Sequence[Token], start: int, end: int, other: Sequence[str]) -> tuple[int, int]:
        span = tokens[start][2], tokens[end - 1][3]
        self._others.setdefault(span, set()).add(frozenset(other))
        self._own[span] = tuple(token[0] for token in tokens[start:end])
        return span

    def count(self, tokens: Sequence[Token], terms: AbstractSet[str]) -> int:
        """Count the tokens that match `terms`; each token of a translated term counts."""
        found = {token[0] for token in tokens if token[0] in terms and not token[0].isdigit()}
        translated: set[int] = set()  # starts of tokens
        for start, stop, others in self._inside(tokens):
            if any(terms >= other for other in others):
                inside = [token for token in tokens if start <= token[2] < stop]
                translated |= {token[2] for token in inside if token[0] not in terms}
        return len(found) + len(translated)

    def matched(self, tokens: Sequence[Token], terms: AbstractSet[str]) -> set[str]:
        """Return the members of `terms` that match these tokens."""
        found = {token[0] for token in tokens if token[0] in terms and not token[0].isdigit()}
        for _, _, others in self._inside(tokens):
            found.update(*(other for other in others if terms >= other))
        return found

    def _inside(self, tokens: Sequence[Token]) -> Iterator[tuple[int, int, set[frozenset[str]]]]:
        """Yield the translated spans between the first and the last of these tokens."""
        if tokens:
            begin, end = tokens[0][2], tokens[-1][3]
            for (start, stop), others in self._others.items():
                if begin <= start and stop <= end:
                    yield start, stop, others

    def pair_matches(self, terms: set[str], clause: Clause | None = None) -> list[bool]:
        """Return for each glossary term of the claim, or of a clause, whether it matches `terms`."""
        return [
            terms.issuperset(self._own[span]) or any(terms.issuperset(other) for other in others)
            for span, others in self._others.items()
            if clause is None or clause.start <= span[0] < clause.end
        ]

    def missing_technical_terms(
        self, tokens: Sequence[Token], terms: AbstractSet[str]
    ) -> Iterator[tuple[str, ...]]:
        """Yield the technical terms of these tokens without any word in `terms`, in either language."""
        starts = {token[2] for token in tokens}
        for span in sorted(self._technical):
            words = self._own[span]
            if span[0] in starts and not terms & {*words, *chain.from_iterable(self._others[span])}:
                yield words


def nearest_sentences(
    passages: Sequence[Text], tokens: Sequence[Token], matcher: TermMatcher, share: float
) -> list[dict[int, str]]:
    """Return for each passage the sentences, by number, that match most of these tokens.

    `share`: the least number of matches, as a share of the matches of the best sentence.
    """
    counts = [
        {
            number: (matcher.count(tokens, words), passage.text[begin:end])
            for number, (begin, end, words) in passage.sentences.items()
        }
        for passage in passages
    ]
    best = max((count for of_passage in counts for count, _ in of_passage.values()), default=0)
    return [
        {number: text for number, (count, text) in of_passage.items() if count >= share * best}
        for of_passage in counts
    ]


def translation_found(analyzer: Analyzer, glossary: Glossary, terms: set[str], word: str) -> bool | None:
    """Return True if terms contain a word's translation, None if the glossary has no translation.

    A word with a translation that is no transliteration counts as found, since it may have others.
    """
    tokens = [token[0] for token in analyzer.analyze(word)]
    matches = [match for match in glossary.translations(tokens) if match.end - match.start == len(tokens)]
    if not matches:
        return None
    found = any(terms.issuperset(match.other_tokens) for match in matches)
    return found or not all(sounds_like(match.pair.korean, match.pair.english) for match in matches)
