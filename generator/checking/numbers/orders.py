"""Comparisons against the numbers of the sources: "A takes longer than B" for A 95 ms, B 180 ms."""

from collections.abc import Iterator, Sequence

from generator.checking.clauses import Bridge, Text, terms_of
from generator.checking.exchanged_roles import Comparison
from generator.checking.numbers.belonging import alike
from generator.checking.numbers.directions import AMOUNTS, Change
from generator.checking.numbers.exchanged import Labelled
from generator.checking.numbers.labels import measures, own_label
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import MOST_PAIRS
from generator.checking.ranks import Rank
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
        if not mine.axes & (AMOUNTS | {"quality", "keeping"}) or mine.multiples:
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


def wrong_ranks(
    own: Sequence[Rank],
    sources: Sequence[tuple[Text, Sequence[Labelled]]],
    counted: Sequence[Quantity],
    bridge: Bridge,
) -> Iterator[tuple[str, str]]:
    """Yield superlatives with the label of a number that is not the first or last of its sentence."""
    for mine in own:
        best: tuple[int, Quantity, Quantity] | None = None
        for text, places in sources:
            for group in _alike(places):
                labels = [terms_of(own_label(text, place)) for place in group]
                found = [
                    len(bridge.matched(mine.near, label - set().union(*labels[:place], *labels[place + 1 :])))
                    for place, label in enumerate(labels)
                ]
                score, place = max((count, place) for place, count in enumerate(found))
                if not score or sorted(found)[-2] >= score:
                    continue
                if any(each.same_as(there.quantity) for each in counted for there in group):
                    continue
                words = set().union(*(there.words for there in group))
                shared = bridge.shared(mine.near, words)
                first = (max if mine.sign > 0 else min)(group, key=lambda there: there.quantity.value)
                if shared > score and (best is None or shared > best[0]):
                    best = shared, group[place].quantity, first.quantity
        if best and best[1] != best[2]:
            yield mine.written, best[2].text


def _alike(places: Sequence[Labelled]) -> Iterator[list[Labelled]]:
    """Yield the measured numbers of each sentence that count the same, where there are several."""
    groups: dict[tuple[int, object], list[Labelled]] = {}
    for place in places:
        if measures(place.quantity):
            groups.setdefault((place.sentence, place.quantity.unit), []).append(place)
    yield from (group for group in groups.values() if len(group) > 1)


def _sides(own: Comparison, text: Text, one: Labelled, other: Labelled, bridge: Bridge) -> bool:
    """Tell whether one number has the first side of a comparison as its label, the other one the second."""
    both = terms_of(own.more) & terms_of(own.than)
    sides = [tuple(token for token in side if token[0] not in both) for side in (own.more, own.than)]
    labels = (
        (terms_of(own_label(text, one)), terms_of(own_label(text, other))),
        (set(one.words), set(other.words)),
    )
    for ours, theirs in labels:
        first, second = ours - theirs, theirs - ours
        more, than = (bridge.matched(side, first | second) for side in sides)
        if len(more & first) > len(more & second) and len(than & second) > len(than & first):
            return True
    return False


def _value(own: Comparison, one: Labelled, other: Labelled) -> int:
    """Return -1 where less of what the numbers measure is better and the comparison says what is better."""
    if "quality" not in own.axes:
        return 1
    return min((POLARITY.get(word, 1) for word in one.words | other.words), default=1)
