"""Comparisons against the numbers of the sources: "A takes longer than B" for A 95 ms, B 180 ms."""

from collections.abc import Iterator, Sequence

from generator.checking.clauses import Bridge, Text, terms_of
from generator.checking.exchanged_roles import Comparison
from generator.checking.numbers.belonging import alike
from generator.checking.numbers.directions import AMOUNTS, Change
from generator.checking.numbers.exchanged import Labelled
from generator.checking.numbers.labels import own_label
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import MOST_PAIRS
from generator.checking.themes import POLARITY


def wrong_orders(
    own: Sequence[Comparison],
    counted: Sequence[Quantity],
    sources: Sequence[tuple[Text, Sequence[Labelled]]],
    changed: Sequence[Change],
    bridge: Bridge,
) -> Iterator[tuple[str, str]]:
    """Yield comparisons whose two sides have numbers in a sentence of the sources in the other order.

    Numbers that measure a change are left out, as are those that the sentence has too (`counted`).
    """
    measured = {change.quantity for change in changed if not change.direction.standard}
    pairs = [
        (text, one, other)
        for text, places in sources
        for one in places
        for other in places
        if one.sentence == other.sentence
        and one.quantity.demanded
        and other.quantity.demanded
        and alike(one.quantity, other.quantity)
        and one.quantity not in measured
        and other.quantity not in measured
        and not any(each.same_as(one.quantity) or each.same_as(other.quantity) for each in counted)
    ]
    if len(own) * len(pairs) > MOST_PAIRS:
        return
    for mine in own:
        if not mine.axes & (AMOUNTS | {"quality"}) or mine.multiples:
            continue
        found = [(one, other) for text, one, other in pairs if _sides(mine, text, one, other, bridge)]
        wrong = [
            (one, other)
            for one, other in found
            if (one.quantity.value < other.quantity.value) == (mine.sign * _value(mine, one, other) > 0)
        ]
        if wrong and len(wrong) == len(found):
            one, other = wrong[0]
            yield mine.written, f"{one.quantity.text}, {other.quantity.text}"


def _sides(own: Comparison, text: Text, one: Labelled, other: Labelled, bridge: Bridge) -> bool:
    """Tell whether one number has the first side of a comparison as its label, the other one the second."""
    ours, theirs = terms_of(own_label(text, one)), terms_of(own_label(text, other))
    first, second = ours - theirs, theirs - ours
    more, than = bridge.matched(own.more, first | second), bridge.matched(own.than, first | second)
    return len(more & first) > len(more & second) and len(than & second) > len(than & first)


def _value(own: Comparison, one: Labelled, other: Labelled) -> int:
    """Return -1 where less of what the numbers measure is better and the comparison says what is better."""
    if "quality" not in own.axes:
        return 1
    return min((POLARITY.get(word, 1) for word in one.words | other.words), default=1)
