"""Keyword lists that contain every term in both languages."""

from collections.abc import Sequence

from indexer.glossary.pairs import term_language

LONGEST_LIST = 60


def keyword_pairs(keywords: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs (Korean, English) of a list with a recognisable order, otherwise nothing.

    The languages alternate, or all terms of one language precede the same number of the other.
    """
    keywords = [keyword.strip() for keyword in keywords if keyword.strip()]
    languages = [term_language(keyword) for keyword in keywords]
    half, odd = divmod(len(keywords), 2)
    if odd or not 0 < half <= LONGEST_LIST // 2 or languages.count("ko") != half or None in languages:
        return []
    if all(one != other for one, other in zip(languages[::2], languages[1::2], strict=True)) and (
        len(set(languages[::2])) == 1
    ):
        matched = list(zip(keywords[::2], keywords[1::2], strict=True))
    elif len(set(languages[:half])) == 1:
        matched = list(zip(keywords[:half], keywords[half:], strict=True))
    else:
        return []
    return matched if languages[0] == "ko" else [(korean, english) for english, korean in matched]
