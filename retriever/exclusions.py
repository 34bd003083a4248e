"""What a search leaves out."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from retriever.keywords import Translation


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Words to leave out.

    `start` and `end` (code points of the composed question) hold operator and words; both are 0 for words
    that were given. The index's analysis adds `tokens`, those that the question names nowhere else, and their
    `translations`.
    """

    text: str
    operator: str = ""
    start: int = 0
    end: int = 0
    tokens: tuple[str, ...] = ()
    translations: tuple[Translation, ...] = ()

    def held(self, words: AbstractSet[str]) -> frozenset[str]:
        """Return those of its tokens that words hold, themselves or by a translation."""
        counted = dict.fromkeys(words, 1.0)
        return frozenset(token for token in self.tokens if self.prominence(token, counted))

    def prominence(self, token: str, words: Mapping[str, float]) -> float:
        """Return how much words are about one of its tokens, by itself or by a translation of it."""
        translated = [
            min(words.get(other, 0.0) for word in translation.words for other in word.tokens)
            for translation in self.translations
            if token in translation.source and any(word.tokens for word in translation.words)
        ]
        return max([words.get(token, 0.0), *translated])

    def searched(self) -> set[str]:
        """Return its tokens and those of their translations."""
        words = (word for translation in self.translations for word in translation.words)
        return {*self.tokens, *(token for word in words for token in word.tokens)}

    def is_held(self, words: AbstractSet[str]) -> bool:
        """Tell whether words hold all that is to be left out."""
        return bool(self.tokens) and len(self.held(words)) == len(set(self.tokens))
