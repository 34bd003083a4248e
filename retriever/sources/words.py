"""The written words of tokens: searches use tokens, but sources need written words."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from indexer.analysis import Analyzer, Token
from indexer.analysis.tokens import TaggedToken, TaggedWord
from indexer.glossary.storage import Glossary, Match, Unit
from retriever.queries.boolean import Phrase, Query, Term, with_words


class WrittenWords:
    """The first written form of each token."""

    def __init__(self) -> None:
        """Start empty."""
        self._words: dict[str, str] = {}

    def note(self, text: str, tokens: Iterable[Token]) -> None:
        """Record the words of an analysed text."""
        for token, _, start, end in tokens:
            self._words.setdefault(token, text[start:end])

    def note_word(self, token: str, word: str) -> None:
        """Record one word."""
        self._words.setdefault(token, word)

    def of(self, token: str) -> str | None:
        """Return the written form of a token, or None."""
        return self._words.get(token)


class NotingAnalyzer(Analyzer):
    """An analyzer that records the written forms of its tokens."""

    def __init__(self, analyzer: Analyzer, words: WrittenWords) -> None:
        """Wrap an analyzer."""
        self._analyzer, self._words = analyzer, words
        self.name, self.decompound = analyzer.name, analyzer.decompound

    def analyze(self, text: str) -> list[Token]:
        """Return the tokens of `text`."""
        tokens = self._analyzer.analyze(text)
        self._words.note(text, tokens)
        return tokens

    def tagged_tokens(self, text: str) -> list[TaggedToken]:
        """Return the tokens of `text`, each with its part of speech."""
        tagged = self._analyzer.tagged_tokens(text)
        self._words.note(text, (token for token, _ in tagged))
        return tagged

    def tagged_words(self, text: str) -> list[TaggedWord]:
        """Return the words of `text` with their parts of speech."""
        return self._analyzer.tagged_words(text)


class NotingGlossary(Glossary):
    """A glossary that records the written forms of its terms."""

    written: WrittenWords

    @classmethod
    def noting(cls, path: Path, words: WrittenWords) -> "NotingGlossary":
        """Open the file at `path`; raises as `Glossary.open`."""
        glossary = cls.open(path)
        glossary.written = words
        return glossary

    def translations(
        self,
        tokens: Sequence[str],
        units: Collection[Unit] = (),
        is_held: Callable[[Sequence[str]], bool] | None = None,
    ) -> list[Match]:
        """Return the pairs with one side in `tokens`."""
        found = super().translations(tokens, units, is_held)
        for match in found:
            if len(match.other_tokens) == 1:  # other terms are analysed again
                text = match.pair.english if match.target == "en" else match.pair.korean
                self.written.note_word(match.other_tokens[0], text)
        return found


def as_written(query: Query, words: WrittenWords) -> Query:
    """Return a query with written words instead of tokens."""

    def written(word: Term | Phrase) -> Term | Phrase:
        own = words.of(word.text) if isinstance(word, Term) and word.tokens == (word.text,) else None
        return replace(word, text=own) if own else word

    return with_words(query, written)


def analysed(query: Query, analyzer: Analyzer, *, keep: bool = False) -> Query:
    """Return the query with the tokens of an analyzer; with `keep`, existing tokens are unchanged."""
    return with_words(query, lambda word: word if keep and word.tokens else analysed_word(word, analyzer))


def analysed_word(word: Term | Phrase, analyzer: Analyzer) -> Term | Phrase:
    """Return a word or phrase with the tokens of an analyzer."""
    tokens = analyzer.analyze(word.text)
    if isinstance(word, Term):
        return replace(word, tokens=tuple(dict.fromkeys(token[0] for token in tokens)))
    first = tokens[0][1] if tokens else 0
    return replace(word, tokens=tuple((token[1] - first, token[0]) for token in tokens))
