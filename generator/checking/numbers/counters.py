"""Korean counters against units: "410 hours" for 410회."""

import re
from collections.abc import Iterator, Sequence

from generator.checking.clauses import Text
from generator.checking.numbers.quantities import Quantity

COUNTER = re.compile(r"\s?(?:회|명|인|건|개|곳|마리|그루|편|대|권|척|쌍|종)(?![가-힣]{0,1}(?:년|월|시간))")
MEASURES = frozenset({"second", "month", "g", "m", "won", "dollar", "share", "degree"})


def counted_otherwise(own: Sequence[Quantity], sources: Sequence[Text]) -> Iterator[str]:
    """Yield numbers with a unit of measure that the sources have only before a Korean counter."""
    for mine in own:
        if not mine.unit or mine.unit.dimension not in MEASURES or mine.multiple or not mine.demanded:
            continue
        same = [(text, other) for text in sources for other in text.quantities if mine.same_as(other)]
        if same and all(other.unit is None and COUNTER.match(text.text, other.end) for text, other in same):
            yield mine.text
