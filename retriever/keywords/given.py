"""Keywords that come with a request: as a person typed and ordered them, or as a model wrote them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from unicodedata import normalize

from indexer.analysis import Analyzer
from indexer.corpora.papers import language_of
from retriever.errors import BadQuestion
from retriever.queries.keywords import KEYWORDS, WORD, Keyword, merge

MOST_GIVEN = 50
LONGEST_GIVEN = 100  # characters


def given_keywords(
    texts: Iterable[str], analyzer: Analyzer, known: Iterable[Keyword] = ()
) -> tuple[Keyword, ...]:
    """Analyse keywords as a person typed and ordered them: the first is k1; each weighs 1 / its rank.

    A text of several words becomes several keywords. A word among the `known` ones keeps its tokens, because
    the analysis of a single word often differs from its analysis in a question. Words with the same tokens
    come once. Words without tokens come last, with weight 0, so that a note can name them.

    Raises:
        BadQuestion: too many keywords, or one that is empty, too long, or not valid Unicode.
    """
    typed = [normalize("NFC", text).strip() for text in texts]
    check_given(typed)
    as_known = {keyword.text: keyword for keyword in reversed(list(known))}
    words = [
        as_known.get(word.text, word)
        for text in typed
        for word in ([as_known[text]] if text in as_known else analysed_words([text], analyzer))
    ]
    dropped = {word.text: word for word in words if not word.tokens}
    return (*rank(merge([word for word in words if word.tokens], ()), None), *dropped.values())


def check_given(texts: Sequence[str]) -> None:
    """Check given keywords.

    Raises:
        BadQuestion: too many keywords, or one that is empty, too long, or not valid Unicode.
    """
    if len(texts) > MOST_GIVEN:
        raise BadQuestion(f"{len(texts):,} keywords are given; the maximum is {MOST_GIVEN}: leave some out")
    for place, text in enumerate(texts, 1):
        if not text.strip():
            raise BadQuestion(f"keyword {place} of {len(texts)} is empty")
        if len(text) > LONGEST_GIVEN:
            raise BadQuestion(
                f"keyword {place} has {len(text):,} characters; the maximum is {LONGEST_GIVEN}: shorten it"
            )
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BadQuestion(
                f"keyword {place} contains a lone surrogate at character {error.start}"
            ) from None


def words_of_each(texts: Iterable[str], analyzer: Analyzer) -> list[Keyword]:
    """Split keywords into words, each analysed once; words that the analyzer drops are left out.

    Compounds of several words find less than their words (SHRAG, section 3.1).
    """
    return [keyword for keyword in analysed_words(texts, analyzer) if keyword.tokens]


def analysed_words(texts: Iterable[str], analyzer: Analyzer) -> list[Keyword]:
    """Split keywords into words, each analysed once; a text without words is kept whole, without tokens."""
    words = (word for text in texts for word in WORD.findall(text) or [text])
    return [
        Keyword(word, language_of(word), tuple(dict.fromkeys(token[0] for token in analyzer.analyze(word))))
        for word in words
    ]


def rank(keywords: Sequence[Keyword], most: int | None = KEYWORDS) -> tuple[Keyword, ...]:
    """Keep the first `most` keywords, and weigh each 1 / its rank."""
    return tuple(replace(keyword, weight=1 / place) for place, keyword in enumerate(keywords[:most], 1))
