"""Compact columns of a glossary file: tokens relative to their term, and lookup numbers of tokens."""

from zlib import crc32

from indexer.glossary.pairs import Tokens

SEPARATOR = "\x1f"
LEAST_INTEGER = 2**31  # SQLite stores -2^31 to 2^31 - 1 in four bytes, and no larger number


def tokens_number(tokens: Tokens) -> int:
    """Return the lookup number of tokens, a hash with possible collisions."""
    return crc32(SEPARATOR.join(tokens).encode()) - LEAST_INTEGER


def packed_tokens(term: str, tokens: Tokens) -> int | str:
    """Return n if the tokens are the term's first n letters in lower case, otherwise the tokens."""
    joined = SEPARATOR.join(tokens)
    return len(joined) if _spelt_out(term).startswith(joined) else joined


def unpacked_tokens(term: str, packed: int | str) -> Tokens:
    """Unpack tokens packed by `packed_tokens`."""
    joined = _spelt_out(term)[:packed] if isinstance(packed, int) else packed
    return tuple(joined.split(SEPARATOR))


def _spelt_out(term: str) -> str:
    return term.lower().replace(" ", SEPARATOR)
