"""A question, analysed once."""

import unicodedata
from dataclasses import dataclass

from indexer.analysis import Token
from retriever.index import SearchIndex
from retriever.keywords import question_tokens
from retriever.queries import Query, Term
from retriever.synonyms import Expansion


@dataclass(frozen=True, slots=True)
class AnalysedQuestion:
    """A question with its tokens; of an expression (method `boolean`) the query that it stands for."""

    text: str  # composed (NFC)
    tokens: tuple[Token, ...] = ()
    terms: tuple[Term, ...] = ()  # one a distinct token
    synonyms: tuple[Expansion, ...] = ()
    expression: Query | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of it to search for."""
        return not self.terms and self.expression is None


def analyse_question(index: SearchIndex, question: str, *, synonyms: bool = True) -> AnalysedQuestion:
    """Analyse a question once; with `synonyms` those of the index's file are found in it."""
    text = unicodedata.normalize("NFC", question)
    tokens = question_tokens(text, index.analyzer)
    if not any(map(str.isalnum, "".join(token[0] for token in tokens))):
        return AnalysedQuestion(text)  # an emoji is a token, but nothing to ask about
    texts = {token: text[start:end] for token, _, start, end in reversed(tokens)}
    terms = tuple(Term(texts[token], (token,)) for token in dict.fromkeys(token[0] for token in tokens))
    # Where a compound stands on its parts, the parts.
    by_position = {position: token for token, position, _, _ in tokens}
    found = tuple(index.synonyms.find(list(by_position.values()))) if synonyms else ()
    return AnalysedQuestion(text, tuple(tokens), terms, found)
