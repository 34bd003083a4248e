"""The sequence of numbers that counts the main parts of a document."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.corpora.full_text.heading_numbers import DEEPER, KINDS, number_of

SKIPPED = 1.2  # less for a number that is missing
LEAST_WEIGHT = 1.2  # of members in the mean
MOST_MISSING = 1.3  # numbers to a member
SPAN = 0.5  # of the longest sequence's span
ANY_STYLE = 0.45  # of its weight counts for a sequence in several styles
SPAN_OF_LINES = 0.1  # of a document, from a sequence's first member to its last


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that may be a heading: its index, how it is set, and how much it looks like one."""

    index: int
    text: str
    style: tuple[float, bool, bool]  # size, bold, capitals
    distinct: bool
    weight: float


def main_sequence(candidates: Sequence[Candidate], lines: int) -> list[Candidate]:
    """Return the candidates that number the main parts of a document, [] without such numbers."""
    by_kind: dict[str, list[tuple[int, Candidate]]] = defaultdict(list)
    for candidate in candidates:
        if (numbered := number_of(candidate.text)) and not DEEPER.match(candidate.text):
            by_kind[numbered[0]].append((numbered[1], candidate))
    sequences = [_best_sequence(by_kind[kind], lines) for kind in KINDS if kind in by_kind]
    spans = [sequence[-1].index - sequence[0].index if sequence else 0 for sequence in sequences]
    longest = max(spans, default=0)
    return next(
        (
            sequence
            for sequence, span in zip(sequences, spans, strict=True)
            if sequence and span >= SPAN * longest
        ),
        [],
    )


def _best_sequence(numbered: Sequence[tuple[int, Candidate]], lines: int) -> list[Candidate]:
    """Return the heaviest sequence of one style, or of any style where they differ (text read by OCR)."""
    styles: dict[object, list[tuple[int, Candidate]]] = defaultdict(list)
    for number, candidate in numbered:
        styles[candidate.style[:2]].append((number, candidate))
        styles[None].append((number, candidate))
    best: tuple[float, list[Candidate]] = (0.0, [])
    for style, members in styles.items():
        weight, sequence = _heaviest(members)
        if len(sequence) < (2 if all(member.distinct for member in sequence) else 3):
            continue
        last = max(number for number, member in members if member is sequence[-1])
        if last > MOST_MISSING * len(sequence) + 1:
            continue
        if (
            weight < LEAST_WEIGHT * len(sequence)
            or sequence[-1].index - sequence[0].index < SPAN_OF_LINES * lines
        ):
            continue
        span = sequence[-1].index - sequence[0].index
        weight *= span / lines * (ANY_STYLE if style is None else 1)
        best = max(best, (weight, sequence), key=lambda found: found[0])
    return best[1]


def _heaviest(members: Sequence[tuple[int, Candidate]]) -> tuple[float, list[Candidate]]:
    """Return the weight and the members of the heaviest sequence 1, 2, 3 …; a number may be missing."""
    best: dict[int, tuple[float, int]] = {}  # the number a sequence ends with: its weight, its last member
    before: list[int | None] = []
    for place, (number, candidate) in enumerate(members):
        choices: list[tuple[float, int | None]] = [(0.0 if number == 1 else -SKIPPED * (number - 1), None)]
        for step, cost in ((1, 0.0), (2, SKIPPED)):
            if found := best.get(number - step):
                choices.append((found[0] - cost, found[1]))
        weight, last = max(choices, key=lambda choice: choice[0])
        before.append(last)
        weight += candidate.weight
        if number not in best or weight >= best[number][0]:
            best[number] = weight, place
    weight, last = max(best.values(), default=(0.0, None))
    sequence: list[Candidate] = []
    while last is not None:
        sequence.append(members[last][1])
        last = before[last]
    return weight, sequence[::-1]
