"""Questions, candidates and statistics written out by hand, of a collection of 100 passages."""

import re
from pathlib import Path

from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.names import Name
from indexer.analysis.packing import PassageTokens
from indexer.files.schema import StoredPassage
from indexer.forward.building import ForwardWriter
from indexer.forward.lexicon import Lexicon, TokenCounts, lexicon_bytes
from indexer.forward.rows import PassageRows
from retriever.engines import NumberedRows
from retriever.engines.term_statistics import TermStatistics
from retriever.order.bm25 import Scale
from retriever.order.patterns import TokenPlaces
from retriever.queries.boolean import Term, single
from retriever.question.analysis import AnalysedQuestion
from retriever.question.concepts import Counterpart, Word

WORD = re.compile(r"\w+")
PASSAGES = 100
# A passage of four tokens is as long as the average: BM25 of a token that it holds once is the idf.
FOUR_LONG = Scale(4.0, title_weight=0.0)


def tokens(text):
    """Write tokens as words; `_` is a position without one, `_9` nine of them."""
    found, position = [], 0
    for match in WORD.finditer(text):
        word = match[0]
        if word.startswith("_"):
            position += int(word[1:] or 1)
        else:
            found.append((word.lower(), position, match.start(), match.end()))
            position += 1
    return found


def passage(text, title="", passage_id="P", *, title2="", lang="en", names=()):
    """Make a passage of tokens and of names in it; its text begins with its title only where `text` does."""
    stored = StoredPassage(passage_id, passage_id, title, text, lang, "abstract", title2=title2)
    packed = PassageTokens.pack(tokens(text), tokens(title), tokens(title2))
    words = packed.text.words()
    named = [name.split() for name in names]
    places = [
        Name(first, len(name))
        for name in named
        for first in range(len(words))
        if words[first : first + len(name)] == name
    ]
    return stored, AnalysedPassage(packed, tuple(places))


def read(*passages, ordinary=(), **frequencies):
    """Make the rows of candidates in a collection of 100, where so many passages hold a token.

    Tokens without a frequency are held by candidates alone. In the other passages each token is a name,
    unless it is one of the `ordinary`.
    """
    writer, counts = ForwardWriter(Path("not written")), TokenCounts()
    rows = [writer.row(*each) for each in passages]
    held = [set(analysed.tokens.text.words()) for _, analysed in passages]
    left = {token: number - sum(token in of for of in held) for token, number in frequencies.items()}
    others = []
    for place in range(PASSAGES - len(passages)):
        words = [token for token, number in left.items() if place < number]
        others.append(passage(" _4 ".join(words), names=set(words) - set(ordinary)))
    for row in [*rows, *(writer.row(*each) for each in others)]:
        counts.add(row)
    lexicon = Lexicon(lexicon_bytes(writer.terms, counts))
    return NumberedRows(tuple(stored.passage_id for stored, _ in passages), PassageRows.of(rows), lexicon)


def places(candidates, *wanted):
    """Return where tokens, given in lines of words, stand in candidates."""
    return TokenPlaces.of(candidates, " ".join(wanted).split())


def question(text, names=(), patterns=None, **weights):
    """Make a question of tokens, all of weight 1 unless given otherwise."""
    analysed = tokens(text)
    return AnalysedQuestion(
        text,
        tuple((token, "") for token in analysed),
        tuple(Term(token, (token,)) for token in dict.fromkeys(token[0] for token in analysed)),
        weights=weights,
        patterns=patterns or {},
        names=tuple(tuple(name.split()) for name in names),
    )


def held_by(**frequencies):
    """Return the statistics of tokens that so many of the 100 passages hold."""
    return TermStatistics(PASSAGES, frequencies)


def together(text):
    """Return the pattern of tokens that stand together."""
    words = tokens(text)
    return tuple((position, token) for token, position, _, _ in words)


def word(token, importance=1.0, weight=1.0, *, is_known=True):
    """Make a word of one spelling."""
    return Word({single(token): weight}, importance, is_known)


def counterpart(text, weight=1.0, importance=1.0, origin=""):
    """Make a counterpart of tokens that stand together."""
    return Counterpart(together(text), weight, importance, origin, text)
