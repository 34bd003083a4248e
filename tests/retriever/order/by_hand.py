"""Questions, candidates and statistics written out by hand, of a collection of 100 passages."""

import re

from indexer.packing import PassageTokens
from retriever.engines import EngineHit
from retriever.order.candidates import Candidate, Scale
from retriever.order.features import Features
from retriever.order.scored import Scored
from retriever.queries import Term
from retriever.question import AnalysedQuestion
from retriever.term_statistics import TermStatistics

WORD = re.compile(r"\w+")
# As long as the average a passage is one of four tokens: BM25 of a token that it holds once is the idf.
FOUR_LONG = Scale(4.0, 2.0, 0.0)


def tokens(text):
    """Write tokens as words; `_` stands for a position without one, `_9` for nine of them."""
    found, position = [], 0
    for match in WORD.finditer(text):
        word = match[0]
        if word.startswith("_"):
            position += int(word[1:] or 1)
        else:
            found.append((word.lower(), position, match.start(), match.end()))
            position += 1
    return found


def candidate(text, title="", passage_id="P", *, title2="", lang="en"):
    """Make a passage of tokens; its text begins with its title only where `text` does."""
    packed = PassageTokens.pack(tokens(text), tokens(title), tokens(title2))
    return Candidate(EngineHit(passage_id, passage_id, 1.0), title, lang, packed)


def scored(passage, score=1.0):
    """Give a candidate a score."""
    return Scored(passage, Features(score, 0.0, 0.0, 0.0), {"base": (score, 1.0)})


def question(text, names=(), **weights):
    """Make a question of tokens, all of which weigh 1 unless said otherwise."""
    analysed = tokens(text)
    terms = tuple(Term(token, (token,)) for token in dict.fromkeys(token[0] for token in analysed))
    return AnalysedQuestion(
        text, tuple(analysed), terms, weights=weights, names=tuple(tuple(name.split()) for name in names)
    )


def held_by(**frequencies):
    """Say how many of the 100 passages hold each token."""
    return TermStatistics(100, frequencies)
