"""The words of a question that no paper of the index contains."""

from collections.abc import Sequence

from indexer.analysis import Token
from indexer.corpora.papers import Language
from retriever.queries.keywords import words_of
from retriever.question.analysis import AnalysedQuestion
from retriever.question.concepts import Concept

MOST_WORDS = 10  # of a long question
NO_NOUNS = "M"  # Sejong's tags of determiners and adverbs: 그, 함께
NO_PAPER_CONTAINS = {"ko": "어느 논문에도 나오지 않는 단어: {}", "en": "no paper contains: {}"}


def unknown_nouns(question: AnalysedQuestion, concepts: Sequence[Concept]) -> list[Token]:
    """Return the tokens of nouns of a question that no paper contains.

    A word is known if the index contains it, a near spelling or a counterpart. In English, every word that is
    neither a stop word nor part of the request counts as a noun. One syllable of a known Korean word (그 of
    그때) does not count as a word.
    """
    known = {token for concept in concepts if concept.is_known for token in concept.tokens}
    unknown = {token for concept in concepts if not concept.is_known for token in concept.tokens} - known
    nouns = {
        token
        for token, tag in question.tagged
        if token[0] in unknown
        and question.roles[token[0]] == "noun"
        and not tag.startswith(NO_NOUNS)
        and any(map(str.isalpha, token[0]))
    }
    edges = {edge for token in question.tokens if token not in nouns for edge in token[2:]}
    return [token for token in nouns if len(token[0]) > 1 or not edges.intersection(token[2:])]


def unknown_words(question: AnalysedQuestion, concepts: Sequence[Concept]) -> tuple[str, ...]:
    """Return the unknown nouns of a question as typed, in their order; at most `MOST_WORDS`."""
    words = words_of(question.text, unknown_nouns(question, concepts))
    return tuple(word.text for word in words[:MOST_WORDS])


def unknown_words_note(language: Language, words: Sequence[str]) -> str:
    """Return a line about unknown words, Korean or English; "" without any."""
    said = NO_PAPER_CONTAINS["ko" if language == "ko" else "en"]
    return said.format(", ".join(words)) if words else ""
