"""An analyzer that remembers: a ranking looks at the same passages again and again, and so does a snippet."""

from collections import OrderedDict
from threading import Lock

from indexer.analysis import Analyzer, Token

REMEMBERED_TOKENS = 500_000  # some 100 MB


class RememberingAnalyzer:
    """The analyzer it stands before, which gives the tokens of the texts asked for last without further work.

    The lists it gives belong to it: they are to be read, not changed. Several threads may ask it: the
    analyzer behind it, which takes one text at a time, is asked by one of them.
    """

    def __init__(self, analyzer: Analyzer, most: int = REMEMBERED_TOKENS) -> None:
        """Remember texts of so many tokens in all."""
        self.name = analyzer.name
        self.decompound = analyzer.decompound
        self._analyzer = analyzer
        self._most = most
        self._held = 0
        self._known: OrderedDict[str, list[Token]] = OrderedDict()
        self._lock = Lock()

    def analyze(self, text: str) -> list[Token]:
        """Return the tokens of `text`."""
        with self._lock:
            known = self._known.get(text)
            if known is not None:
                self._known.move_to_end(text)
                return known
            tokens = self._analyzer.analyze(text)
            self._known[text] = tokens
            self._held += _size(tokens)
            while self._held > self._most:
                _, dropped = self._known.popitem(last=False)
                self._held -= _size(dropped)
            return tokens


def _size(tokens: list[Token]) -> int:
    return len(tokens) + 1  # a text of no tokens takes room too
