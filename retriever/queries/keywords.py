"""Keywords as values, words of a text with their tokens, and counterparts of words in the glossary."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Annotated, Literal

from pydantic import PlainSerializer
from typing_extensions import TypedDict

from base.notes import Note
from indexer.analysis import Analyzer, Token
from indexer.analysis.word_roles import is_common
from indexer.corpora.papers import Language, language_of
from indexer.forward.lexicon import Lexicon
from indexer.glossary.storage import Glossary, Unit
from retriever.queries.boolean import Pattern, Term

WORD = re.compile(
    r"[^\s()\[\]{}<>〈〉《》「」『』〔〕,.:;·\"'“”‘’!?…~/|]+"
    r"(?:['’.\-+#/&][^\s()\[\]{}<>,.:;\"'“”!?]+)*"
)

# Origins of a translation: a tier of the glossary, or another form of the word.
Origin = Literal["user", "corpus", "general", "abbreviation", "sound"]
TIERS: Mapping[str, Origin] = {"user": "user", "general": "general"}


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word to search for: as shown, its tokens, and its importance for the question."""

    text: str
    language: Language
    tokens: tuple[str, ...]
    weight: float = 0.0

    @property
    def is_common(self) -> bool:
        """Whether any paper may contain it: study, effect, since."""
        return all(is_common(self.text, token) for token in self.tokens)

    def term(self) -> Term:
        """Make the clause that searches for it."""
        return Term(self.text, self.tokens)

    def as_record(self) -> "KeywordRecord":
        """Return the keyword as JSON, without its tokens."""
        return {"text": self.text, "language": self.language, "weight": round(self.weight, 4)}


class KeywordRecord(TypedDict):
    """A searched keyword; the most important comes first."""

    text: str
    language: Language
    weight: float


ShownKeyword = Annotated[Keyword, PlainSerializer(Keyword.as_record, return_type=KeywordRecord)]


def words_of(question: str, tokens: Iterable[Token]) -> list[Keyword]:
    """Split a question into words with their tokens; words with the same tokens come once."""
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


@dataclass(frozen=True, slots=True)
class Translation:
    """A counterpart of some tokens of the question: a translation, a synonym, another form.

    `text` is its spelling in the question, for notes.
    """

    source: frozenset[str]
    words: tuple[Keyword, ...]
    pattern: Pattern  # of the adjacent tokens of all words
    origin: Origin = "corpus"
    text: str = ""

    @property
    def others(self) -> str:
        """The counterpart in its written form."""
        return " ".join(word.text for word in self.words)

    @property
    def note(self) -> str:
        """The note for the reader on another form."""
        code = "searched_by_sound" if self.origin == "sound" else "searched_also"
        return Note(code, text=self.text, others=self.others)


def translations(
    tokens: Sequence[Token],
    glossary: Glossary,
    analyzer: Analyzer,
    units: Collection[Unit] = (),
    lexicon: Lexicon | None = None,
) -> list[Translation]:
    """Look the question's words up in the corpus's glossary; a compound comes as its words (section 3.1).

    Args:
        tokens: of the question.
        glossary: of the index.
        analyzer: for the words of a counterpart.
        units: terms of several tokens (`compounds`): CO2 is not looked up as CO.
        lexicon: of the index; with it, counterparts with unknown tokens are left out.
    """

    def is_held(others: Sequence[str]) -> bool:
        return lexicon is None or all(lexicon.frequencies(others).values())

    found = []
    terms = [token[0] for token in tokens]
    for match in glossary.translations(terms, units, is_held):
        pair, target, own = match.pair, match.target, match.other_tokens
        text = pair.english if target == "en" else pair.korean
        analysed = analyzer.analyze(text) if len(own) > 1 else []
        if {token[0] for token in analysed} != set(own):
            analysed = []  # a single term is split differently than in a sentence
        words = tuple(words_of(text, analysed)) or (Keyword(text, target, own),)
        origin = TIERS.get(pair.sources[0], "corpus")
        source = frozenset(terms[match.start : match.end])
        pattern = pattern_of(analysed) or tuple(enumerate(own))
        found.append(Translation(source, words, pattern, origin))
    return found


def pattern_of(tokens: Sequence[Token]) -> Pattern:
    """Return analysed tokens as a pattern; of a compound stacked on its parts, which follow it, the parts."""
    by_position = {position: term for term, position, _, _ in tokens}
    first = tokens[0][1] if tokens else 0
    return tuple((position - first, term) for position, term in by_position.items())
