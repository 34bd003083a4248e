"""Numbers of headings: 제 1 장, Chapter 1, IV., Ⅳ., 4., 4.2, A."""

import re

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
