"""Preparation of texts for a tokenizer: lone surrogates replaced, very long texts shortened."""

import re
from collections.abc import Callable

SURROGATE = re.compile("[\ud800-\udfff]")
SPACE = re.compile(r"\s")
CHARACTERS_A_TOKEN = 16  # more than in ordinary text; affects only the first attempt
MARGIN = 16  # extra tokens, so that the cut does not affect the last kept token


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded, by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return SURROGATE.sub("\ufffd", text)
    return text


def beginning(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the text or a beginning that ends before white space and contains all tokens that are read.

    The number of characters per token is not limited (a long unknown word is one token, a run of spaces
    none), so the tokens of a beginning are counted, and the beginning is doubled until they suffice.

    Args:
        text: any text.
        max_tokens: number of tokens that the model reads; later text is ignored.
        count: returns the number of tokens of a text without truncation.
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
