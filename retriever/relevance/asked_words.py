"""The words of a question with their counterparts, for searching and judging papers without an index."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from indexer.analysis import Analyzer
from indexer.analysis.word_roles import SUBJECT_ROLES, roles_of
from indexer.glossary.storage import Glossary
from retriever.queries.boolean import Or, Term
from retriever.queries.keywords import Keyword, Translation, translations, words_of

MAX_WORDS = 20
COMMON_WEIGHT = 0.3  # of words that any paper may contain


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A word, and its counterparts in the other language from the glossary."""

    keyword: Keyword
    others: tuple[Keyword, ...] = ()
    weight: float = 1.0  # COMMON_WEIGHT if any paper may contain it: study, effect, since

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """The tokens of the word, and of each of its counterparts."""
        return (self.keyword.tokens, *(other.tokens for other in self.others))


def asked_words(text: str, analyzer: Analyzer, glossary: Glossary) -> tuple[AskedWord, ...]:
    """Return at most `MAX_WORDS` words of a text, in its order.

    Words of the request and question words are left out unless there are no others.
    """
    text = unicodedata.normalize("NFC", text)
    tagged = analyzer.tagged_tokens(text)
    roles = roles_of(tagged)
    tokens = [token for token, _ in tagged if any(map(str.isalnum, token[0]))]
    subject = [token for token in tokens if roles[token[0]] in SUBJECT_ROLES] or tokens
    found = translations(subject, glossary, analyzer)
    return tuple(
        AskedWord(
            word,
            tuple(dict.fromkeys(_counterparts(word, found))),
            COMMON_WEIGHT if word.is_common else 1.0,
        )
        for word in words_of(text, subject)[:MAX_WORDS]
    )


def _counterparts(word: Keyword, found: list[Translation]) -> Iterator[Keyword]:
    """Yield the counterparts of the whole word; those of its parts if there are none."""
    whole = [each for each in found if each.source.issuperset(word.tokens)]
    for each in whole or (each for each in found if not each.source.isdisjoint(word.tokens)):
        yield from each.words


def subject_of(words: tuple[AskedWord, ...]) -> tuple[AskedWord, ...]:
    """Return the words about the subject; all words if there are none."""
    return tuple(word for word in words if word.weight > COMMON_WEIGHT) or words


def words_query(words: tuple[AskedWord, ...]) -> Or:
    """Join words and their counterparts by OR."""
    terms: dict[str, Term] = {}
    for word in words:
        for keyword in (word.keyword, *word.others):
            terms.setdefault(keyword.text, Term(keyword.text, keyword.tokens, weight=word.weight))
    return Or(tuple(terms.values()))
