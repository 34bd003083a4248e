"""The words of a question for searching and judging papers without an index.

Words of the request and question words are left out unless there are no others. Each word has its
counterparts in the other language and its other forms from the glossary.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace

from indexer.analysis import Analyzer, Token
from indexer.analysis.word_roles import SUBJECT_ROLES, Role, roles_of
from indexer.glossary.storage import Glossary
from retriever.constraints.parsing import Constraints
from retriever.queries.boolean import Or, Term
from retriever.queries.keywords import KEYWORDS, Keyword, Translation, translations, words_of
from retriever.question.analysis import AnalysedQuestion, common_tokens, question_weights
from retriever.question.compounds import compounds
from retriever.question.word_forms import form_translations

MOST_WORDS = 2 * KEYWORDS
COMMON_WEIGHT = 0.3  # of words that any paper may contain


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A word, its counterparts (usually in the other language), and its weight in the question."""

    keyword: Keyword
    others: tuple[Keyword, ...] = ()
    weight: float = 1.0
    is_common: bool = False  # whether any paper may contain it: study, effect, since

    @property
    def languages(self) -> frozenset[str]:
        """The languages in which it is known; all languages for an abbreviation or a number (GPT-4)."""
        texts = [self.keyword, *self.others]
        return frozenset(keyword.language for keyword in texts)

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """The tokens of the word, and of each of its counterparts."""
        return (self.keyword.tokens, *(other.tokens for other in self.others))


def asked_words(text: str, analyzer: Analyzer, glossary: Glossary) -> tuple[AskedWord, ...]:
    """Return at most `MOST_WORDS` words that a text asks about, in its order."""
    text = unicodedata.normalize("NFC", text)
    tagged = analyzer.tagged_tokens(text)
    tokens = [token for token, _ in tagged if any(map(str.isalnum, token[0]))]
    roles, weights, common = roles_of(tagged), question_weights(tagged), common_tokens(text, tagged)
    subject = [token for token in tokens if roles[token[0]] in SUBJECT_ROLES]
    words = words_of(text, subject or tokens)[:MOST_WORDS]
    others: dict[str, list[Keyword]] = {}
    for translation in _counterparts(text, subject, roles, analyzer, glossary):
        for token in translation.source:
            others.setdefault(token, []).extend(translation.words)
    return tuple(
        AskedWord(
            word,
            tuple(dict.fromkeys(other for token in word.tokens for other in others.get(token, ()))),
            max(weights.get(token, 1.0) * (COMMON_WEIGHT if token in common else 1) for token in word.tokens),
            common.issuperset(word.tokens),
        )
        for word in words
    )


def _counterparts(
    text: str, subject: list[Token], roles: Mapping[str, Role], analyzer: Analyzer, glossary: Glossary
) -> list[Translation]:
    """Return translations and other forms; a long form replaces its abbreviation only with all its words."""
    units = tuple(compounds(text, subject))
    found = translations(subject, glossary, analyzer, units)
    question = AnalysedQuestion(text, tuple((token, "") for token in subject), roles=roles, units=units)
    forms = form_translations(question, found, glossary, analyzer)
    return [*found, *(replace(form, words=_joined(form)) for form in forms)]


def _joined(form: Translation) -> tuple[Keyword, ...]:
    if len(form.words) < 2:  # noqa: PLR2004 - one word is whole
        return form.words
    tokens = dict.fromkeys(token for word in form.words for token in word.tokens)
    return (Keyword(form.others, form.words[0].language, tuple(tokens)),)


def subject_text(question: str, found: Constraints) -> str:
    """Return a question without the constraints found in it: years and exclusions.

    Contradictory years are removed too. The places of the constraints are those in the question's NFC.
    """
    text = unicodedata.normalize("NFC", question)
    return replace(found, years=found.years or found.contradicting).remaining(text) or text


def subject_of(words: tuple[AskedWord, ...]) -> tuple[AskedWord, ...]:
    """Return the words about the subject; all words if there are none."""
    return tuple(word for word in words if not word.is_common) or words


def words_query(words: tuple[AskedWord, ...]) -> Or:
    """Join words and their counterparts by OR."""
    terms: dict[str, Term] = {}
    for word in words:
        for keyword in (word.keyword, *word.others):
            terms.setdefault(keyword.text, Term(keyword.text, keyword.tokens, weight=round(word.weight, 4)))
    return Or(tuple(terms.values()))
