"""A question, analysed once: its tokens with their parts of speech, names, and the weight of each token.

The analysis of a single Korean word depends on its neighbours: 생성 alone is 생성, but 생 in 생성을. So each
word of a query of few words, and each keyword, is read in several contexts, and a token weighs the share of
the readings that contain it.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from base.letters import HANGUL
from indexer.analysis import Analyzer
from indexer.analysis.names import names_in
from indexer.analysis.tokens import TaggedToken, Token
from indexer.analysis.word_roles import SUBJECT_ROLES, Role, is_common, roles_of
from indexer.corpora.papers import language_of
from retriever.conditions import Conditions
from retriever.index import SearchIndex
from retriever.opening.synonyms import Expansion
from retriever.queries.boolean import Query
from retriever.queries.keywords import WORD, Keyword, words_of

WEAK = 0.5  # weight of words of the request, question words, and words of any paper (study, effect)
FEW_WORDS = 4  # of a query that is no sentence
QUESTION_MARKS = "?\uff1f"
HANGUL_SYLLABLES, FINALS = range(0xAC00, 0xD7A4), 28
NOUN = "연구"
# A longer text was pasted in: it has no names to follow.
PASTED_WORDS = 25


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its tokens, or for method `boolean` the parsed query of an expression.

    Args:
        text: the question, composed (NFC).
        tagged: its tokens with their parts of speech.
        weights: of each token: its occurrences, or the share of the readings of its word; half for words of
            the request, question words and words of any paper.
        roles: of each token.
        single_word: of a query of one word, without signs and particles around it.
        names: the tokens of each name in it.
        synonyms: of the user's file.
        expression: of the expert language.
        conditions: its explicit conditions; exclusions, years and fields were removed from the question.
        filters: its fields and phrases, if papers satisfy them.
    """

    text: str
    tagged: tuple[TaggedToken, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    roles: Mapping[str, Role] = field(default_factory=dict)
    single_word: str = ""
    names: tuple[tuple[str, ...], ...] = ()
    synonyms: tuple[Expansion, ...] = ()
    expression: Query | None = None
    conditions: Conditions = field(default_factory=lambda: Conditions(""))
    filters: tuple[Query, ...] = ()

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens in order."""
        return tuple(token for token, _ in self.tagged)

    @property
    def is_empty(self) -> bool:
        """Whether it contains nothing to search for."""
        return not self.weights and self.expression is None

    @property
    def subject(self) -> tuple[Token, ...]:
        """The tokens about its subject, without words of the request and question words; all without any."""
        found = tuple(token for token in self.tokens if self.roles[token[0]] in SUBJECT_ROLES)
        return found or self.tokens

    def words(self) -> list[Keyword]:
        """Return the words of the subject, each once; a single word with the tokens of all its readings."""
        if word := self.single_word:
            return [Keyword(word, language_of(word), tuple(self.weights))]
        return words_of(self.text, self.subject)

    @property
    def texts(self) -> dict[str, str]:
        """The first written form of each token."""
        return {token: self.text[start:end] for token, _, start, end in reversed(self.tokens)}


def analyse_question(index: SearchIndex, text: str, *, synonyms: bool = True) -> Question:
    """Analyse a question; `synonyms` looks up the rules of the user's file."""
    text = unicodedata.normalize("NFC", text)
    tagged = tuple(index.analyzer.tagged_tokens(text)) or _as_object(text, index.analyzer)
    tokens = [token for token, _ in tagged]
    if not has_words(tokens):
        return Question(text)
    by_position = {token[1]: token for token in tokens}  # of a compound and its parts, the parts
    found = index.synonyms.find([token[0] for token in by_position.values()]) if synonyms else []
    is_passage = len(by_position) > PASTED_WORDS
    roles = roles_of(tagged)
    weak = {token for token, role in roles.items() if role not in SUBJECT_ROLES}
    weak |= {token for token, _, start, end in tokens if is_common(text[start:end], token)}
    is_sentence = len(text.split()) > FEW_WORDS or any(mark in text for mark in QUESTION_MARKS)
    weights = Counter(token[0] for token in tokens) if is_sentence else keyword_weights(text, index.analyzer)
    return Question(
        text,
        tagged,
        weights={token: weight * (WEAK if token in weak else 1.0) for token, weight in weights.items()},
        roles=roles,
        single_word=_single_word(text, index.analyzer),
        names=() if is_passage else tuple(names_in(text, list(tagged))),
        synonyms=tuple(found),
    )


def has_words(tokens: Iterable[Token]) -> bool:
    """Check whether there is something to ask about; an emoji is a token, but nothing to ask about."""
    return any(character.isalnum() for token in tokens for character in token[0])


def _as_object(text: str, analyzer: Analyzer) -> tuple[TaggedToken, ...]:
    """Return the tokens of a noun that alone is read as an adverb or an interjection: 설사, 비단."""
    if not HANGUL.search(text) or len(text.split()) > 1:
        return ()
    return tuple(pair for pair in analyzer.tagged_tokens(text + "를") if pair[0][2] < len(text))


def keyword_weights(text: str, analyzer: Analyzer) -> dict[str, float]:
    """Return the weights of a keyword's tokens: occurrences, or for Hangul the share of its readings."""
    weights: dict[str, float] = {}
    for word in WORD.findall(text) if HANGUL.search(text) else [text]:
        readings = _readings(word, analyzer)
        for token in (token[0] for reading in readings for token in reading):
            weights[token] = weights.get(token, 0.0) + 1 / len(readings)
    return weights


def _single_word(text: str, analyzer: Analyzer) -> str:
    """Return the word of a query of one word, from the first to the last token of its readings."""
    words = WORD.findall(text)
    if len(words) != 1:
        return ""
    tokens = [token for reading in _readings(words[0], analyzer) for token in reading]
    return words[0][min(token[2] for token in tokens) : max(token[3] for token in tokens)] if tokens else ""


def _readings(word: str, analyzer: Analyzer) -> list[list[Token]]:
    """Return the tokens of a word alone and in each other context."""
    return [
        [token for token in analyzer.analyze(context) if token[2] < len(word)] for context in _contexts(word)
    ]


def _contexts(word: str) -> list[str]:
    """Return a word alone; a Korean one also as object, as subject, and before another noun."""
    if (last := ord(word[-1])) not in HANGUL_SYLLABLES:
        return [word]
    is_open = (last - HANGUL_SYLLABLES.start) % FINALS == 0
    object_, subject = ("를", "가") if is_open else ("을", "이")
    return [word, word + object_, word + subject, f"{word} {NOUN}"]
