"""Runs of Hangul in a question, with the tokens of each."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from indexer.analysis import Token

HANGUL_RUN = re.compile("[가-힣]+")


def hangul_runs(text: str, tokens: Sequence[Token]) -> Iterator[tuple[tuple[int, int], list[Token]]]:
    """Yield the start and end of each run of Hangul, and its tokens.

    `tokens` are in the order of their starts.
    """
    starts = [token[2] for token in tokens]
    for run in HANGUL_RUN.finditer(text):
        begun = tokens[bisect_left(starts, run.start()) : bisect_left(starts, run.end())]
        yield run.span(), [token for token in begun if token[3] <= run.end()]
