"""Short questions about a subject that no paper of the index names.

A word that no paper contains can be the subject of a short question (quantum error correction) or marginal to
it (detecting cracks in bells). It is the subject if few other words are left, or if the title of the best
paper does not name these: a paper about bells has them in its title.
"""

from collections.abc import Sequence

from indexer.analysis.word_roles import SUBJECT_ROLES, is_common
from retriever.engines import NumberedRows
from retriever.order.features import coverage, patterns_of
from retriever.order.measured import question_places
from retriever.queries.keywords import words_of
from retriever.question.analysis import AnalysedQuestion
from retriever.question.concepts import Concept, with_roles
from retriever.question.unknown_words import unknown_nouns

MOST_WORDS = 4  # of a short question, without words that any paper may hold
UNKNOWN_SHARE = 0.5  # of the question's words; with more unknown ones its subject is unknown
TITLE_SHARE = 0.4  # of the known words' importance, which the title of a paper on the subject holds
LIKELIHOOD = 0.2  # that papers answer such a question, at most; below the threshold of answers


def subject_is_unknown(question: AnalysedQuestion, concepts: Sequence[Concept], read: NumberedRows) -> bool:
    """Return True if the subject of a short question is a word that no paper contains.

    Args:
        question: the question.
        concepts: its words and terms.
        read: the passages found, best first.
    """
    subject = [token for token in question.tokens if question.roles[token[0]] in SUBJECT_ROLES]
    content = [token for token in subject if not is_common(question.text[token[2] : token[3]], token[0])]
    unknown = [token for token in unknown_nouns(question, concepts) if token in content]
    if not unknown or len(words_of(question.text, content)) > MOST_WORDS:
        return False
    if len(unknown) >= UNKNOWN_SHARE * len(subject):
        return True
    known = [concept for concept in with_roles(concepts, question.roles, SUBJECT_ROLES) if concept.is_known]
    return _title_share(question, known, read) < TITLE_SHARE


def _title_share(question: AnalysedQuestion, known: Sequence[Concept], read: NumberedRows) -> float:
    """Return the share of concepts that the title of the first passage holds; 1 without a title."""
    if not read.ids or not read.rows.title_length[0]:
        return 1.0
    found = question_places(question, known, read).count(patterns_of(known))
    return float(coverage(known, found, titles=True)[0])
