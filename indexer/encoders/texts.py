"""Texts made fit for a tokenizer: no lone surrogates, and no more of a very long one than can be read."""

import re
from collections.abc import Callable

SURROGATE = re.compile("[\ud800-\udfff]")
SPACE = re.compile(r"\s")
CHARACTERS_A_TOKEN = 16  # more than tokens of running text have; only what is first tried hangs on it
MARGIN = 16  # tokens behind the last one kept, so that the cut is far from it


def without_surrogates(text: str) -> str:
    """Return the text with lone surrogates, which no encoding has, replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return SURROGATE.sub("\ufffd", text)
    return text


def beginning(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the text, or a beginning of it that ends before white space and fills all the tokens there are.

    How many characters a token covers has no bound (a long unknown word is one token, a run of spaces none),
    so the tokens of a beginning are counted, and one twice as long is tried where they do not suffice.

    Args:
        text: any text.
        max_tokens: tokens that the model reads; what comes behind them is not looked at.
        count: gives the number of tokens of a text, not cut.
    """
    size = CHARACTERS_A_TOKEN * (max_tokens + MARGIN)
    while size < len(text):
        space = SPACE.search(text, size)
        if space is None:
            return text
        part = text[: space.start()]
        if count(part) >= max_tokens + MARGIN:
            return part
        size = 2 * space.start()
    return text
