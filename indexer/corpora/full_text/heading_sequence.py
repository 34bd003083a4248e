"""Numbers of headings (제 1 장, Chapter 1, IV., 4.2, A.), and their sequence in a document."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

ROMAN = {numeral: value for value, numeral in enumerate("I II III IV V VI VII VIII IX X XI XII".split(), 1)}
ROMAN_CHARACTERS = {chr(0x2160 + value): value + 1 for value in range(12)}  # Ⅰ to Ⅻ
NUMERAL = r"[IVX]{1,4}|[Ⅰ-Ⅻ]"
KINDS = {
    "chapter": re.compile(
        rf"(?:제\s*(?P<a>\d{{1,2}}|{NUMERAL})\s*[장편부]|(?P<b>\d{{1,2}})\s*장(?=\s)|(?:chapter|part)\s+(?P<c>\d{{1,2}}|{NUMERAL})\b)"
        r"\s*[.:]?\s*(?P<name>.*)",
        re.IGNORECASE,
    ),
    "roman": re.compile(rf"(?P<a>{NUMERAL})(?:\s*[.)]\s*|\s+)(?P<name>\S.*)"),
    "arabic": re.compile(r"(?P<a>\d{1,2})(?:\s*[.)]\s*(?=\D)|\.?\s+)(?P<name>\D.*)"),
}
DEEPER = re.compile(
    r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+[.)]?\s+(?P<name>\D.*)|제\s*\d{1,2}\s*절\s*(?P<section>.*)"
)
LETTERED = re.compile(r"[A-H](?:[.)]\s*|\s+)(?P<name>[A-Z가-힣].*)")


def name_of(text: str) -> str:
    """Return a heading without its number."""
    for pattern in (*KINDS.values(), DEEPER, LETTERED):
        if found := pattern.match(text):
            groups = found.groupdict()
            return (groups["name"] or groups.get("section") or text).strip()
    return text


def number_of(text: str) -> tuple[str, int] | None:
    """Return the kind and the value of a heading's number; None without a number."""
    for kind, pattern in KINDS.items():
        if found := pattern.match(text):
            numeral = next(found[group] for group in "abc" if found.groupdict().get(group))
            numeral = numeral.upper()
            number = (
                ROMAN.get(numeral)
                or ROMAN_CHARACTERS.get(numeral)
                or (int(numeral) if numeral.isdecimal() else 0)
            )
            name = found["name"].strip()
            if number and (
                kind == "chapter"
                or (name and (name[0].isupper() or not name[0].isascii() or name[0] in '"“‘(‹'))
            ):
                return kind, number
    return None


SKIPPED = 1.2  # penalty for a missing number
LEAST_WEIGHT = 1.2  # minimal mean weight of the members
MOST_MISSING = 1.3  # maximal ratio of numbers to members
SPAN = 0.5  # minimal share of the longest sequence's span
ANY_STYLE = 0.45  # weight factor of a sequence in several styles
SPAN_OF_LINES = 0.1  # minimal share of the document's lines between first and last member


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that may be a heading: its index, style, and a weight for its similarity to a heading."""

    index: int
    text: str
    style: tuple[float, bool, bool]  # size, bold, capitals
    distinct: bool
    weight: float


def main_sequence(candidates: Sequence[Candidate], lines: int) -> list[Candidate]:
    """Return the numbered headings of a document's main parts, [] if they have no numbers."""
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
    """Return the sequence of one style with the highest weight, or of any style if styles vary (OCR)."""
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
    """Return the weight and members of the best sequence 1, 2, 3 …; numbers may be missing."""
    best: dict[int, tuple[float, int]] = {}  # last number of a sequence: its weight, its last member
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
