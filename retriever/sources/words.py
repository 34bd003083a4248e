"""The written words of tokens: searches use tokens, but sources need written words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from indexer.analysis import Analyzer, Token
from indexer.analysis.tokens import TaggedToken, TaggedWord
from indexer.glossary.storage import Glossary, Match
from retriever.queries.boolean import Phrase, Query, Term, with_words

Written = dict[str, str]  # the first written form of each token


class NotingAnalyzer(Analyzer):
    """An analyzer that records the written forms of its tokens."""

    def __init__(self, analyzer: Analyzer, written: Written) -> None:
        """Wrap an analyzer."""
        self._analyzer, self._written = analyzer, written
        self.name, self.decompound = analyzer.name, analyzer.decompound

    def analyze(self, text: str) -> list[Token]:
        """Return the tokens of `text`."""
        return [self._noted(token, text) for token in self._analyzer.analyze(text)]

    def tagged_tokens(self, text: str) -> list[TaggedToken]:
        """Return the tokens of `text`, each with its part of speech."""
        return [(self._noted(token, text), tag) for token, tag in self._analyzer.tagged_tokens(text)]

    def tagged_words(self, text: str) -> list[TaggedWord]:
        """Return the words of `text` with their parts of speech."""
        return self._analyzer.tagged_words(text)

    def _noted(self, token: Token, text: str) -> Token:
        self._written.setdefault(token[0], text[token[2] : token[3]])
        return token


class NotingGlossary(Glossary):
    """A glossary that records the written forms of its terms."""

    written: Written

    def translations(self, tokens: Sequence[str], *options: Any, **named: Any) -> list[Match]:
        """Return the pairs with one side in `tokens`."""
        found = super().translations(tokens, *options, **named)
        for match in found:
            if len(match.other_tokens) == 1:  # other terms are analysed again
                text = match.pair.english if match.target == "en" else match.pair.korean
                self.written.setdefault(match.other_tokens[0], text)
        return found


def as_written(query: Query, written: Written) -> Query:
    """Return a query with written words instead of tokens."""

    def with_text(word: Term | Phrase) -> Term | Phrase:
        is_token = isinstance(word, Term) and word.tokens == (word.text,)
        return replace(word, text=written.get(word.text, word.text)) if is_token else word

    return with_words(query, with_text)


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
