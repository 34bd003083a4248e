"""Units of measure in Korean and in English, and the factors between them.

The claim "12 months" has the quantity of the passage "1년"; "5 g" and "5 mg" differ.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from base.patterns import lazy_regex


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: values of one dimension are comparable after multiplication by their factors."""

    dimension: str
    factor: Decimal = Decimal(1)


# Names of units by dimension and factor. Hours and months are not converted into each other.
WORDS: dict[tuple[str, str], str] = {
    ("share", "0.01"): "% ％ percent per~cent 퍼센트",
    (
        "share in points",
        "0.01",
    ): "%p %포인트 %~points %~point pp percentage~points percentage~point 퍼센트포인트",
    ("second", "0.001"): "milliseconds millisecond ms 밀리초",
    ("second", "1"): "seconds second sec s 초",
    ("second", "60"): "minutes minute mins min 분",
    ("second", "3600"): "hours hour hrs hr h 시간",
    ("second", "86400"): "days day 일간 일",
    ("second", "604800"): "weeks week 주간 주일 주",
    ("month", "1"): "months month 개월 달",
    ("month", "12"): "years-old year-old years year yr 년간 년 세 살",
    ("month of the year", "1"): "월",
    ("won", "1"): "won 원",
    ("dollar", "1"): "dollars dollar 달러",
    ("euro", "1"): "euros euro 유로",
    ("yen", "1"): "yen 엔",
    ("point", "1"): "points point 점",
    ("times", "1"): "times -fold fold 배",
    ("degree", "1"): "°C ℃ degrees 도",
    ("g", "1000000"): "tonnes tonne tons ton t 톤",
    ("g", "1000"): "kilograms kilogram 킬로그램",
    ("g", "1"): "grams gram 그램",
    ("g", "0.001"): "milligrams milligram 밀리그램",
    ("m", "1000"): "kilometres kilometers kilometre kilometer 킬로미터",
    ("m", "0.01"): "centimetres centimeters centimetre centimeter 센티미터",
    ("m", "0.001"): "millimetres millimeters millimetre millimeter 밀리미터",
    ("m", "1"): "metres meters metre meter 미터",
    ("m2", "10000"): "hectares hectare ha 헥타르",
    ("m2", "1000000"): "km2 제곱킬로미터",
    ("m2", "1"): "m2 제곱미터",
    ("L", "1"): "litres liters litre liter 리터",
    ("L", "0.001"): "millilitres milliliters millilitre milliliter 밀리리터",
    ("ppm", "1"): "ppm",
    ("ppb", "1"): "ppb",
}
PREFIXES = {
    "n": "1e-9",
    "µ": "1e-6",
    "m": "1e-3",
    "c": "1e-2",
    "k": "1e3",
    "M": "1e6",
    "G": "1e9",
    "T": "1e12",
}
BASES = "g m S Pa Hz V A W Wh Ah J L mol eV".split()
OF_WORDS = {
    name.replace("~", " "): Unit(dimension, Decimal(factor))
    for (dimension, factor), names in WORDS.items()
    for name in names.split()
}
OF_SYMBOLS = {base: Unit(base) for base in BASES} | {
    prefix + base: Unit(base, Decimal(factor)) for prefix, factor in PREFIXES.items() for base in BASES
}
UNITS = OF_SYMBOLS | OF_WORDS
_HANGUL = sorted((name for name in UNITS if re.match("[가-힣]", name)), key=len, reverse=True)
_OTHERS = sorted((name for name in UNITS if name not in _HANGUL), key=len, reverse=True)
# A Hangul unit ends its word or precedes a particle: 도시, 분야 and 주민 contain no unit.
_BOUND = (
    "이상 이하 이내 이후 이전 미만 초과 정도 가량 남짓 안팎 내외 동안 만에 만큼 마다 짜리 쯤 씩 째 당 차 간 "
    "여간 여 전 후 뒤 내 넘게"
)
_JOSA = (
    "에서는 에서도 에서만 에서의 에서 에는 에도 에만 에게 에 으로는 으로도 으로의 으로 로는 로도 로의 로 "
    "까지는 까지의 까지 부터는 부터 보다는 보다 처럼 밖에 뿐 이나 이라도 과는 와는 과의 와의 "
    "은 는 이 가 을 를 의 과 와 도 만 나 인 일 임"
)
_COPULA = "(?:이었|였|입니|이[다며고지라므던]|인데)[가-힣]{0,5}"
PARTICLE = (
    rf"(?![가-힣])|(?=(?:(?:{'|'.join(_BOUND.split())})?(?:{'|'.join(_JOSA.split())})?|{_COPULA})(?![가-힣]))"
)
UNIT = lazy_regex(
    rf"[\s-]?((?:{'|'.join(map(re.escape, _OTHERS))})[²³23]?(?![A-Za-z0-9])(?<!\ds)"  # the 1990s
    rf"|(?!원인)(?:{'|'.join(_HANGUL)})(?!의\s?\d)(?:{PARTICLE}))"
)


def unit_of(name: str) -> Unit | None:
    """Return the unit of a name; cm² differs from cm, and mg/L is read as mg."""
    name = name.replace("μ", "µ").replace("²", "2").replace("³", "3")
    return UNITS.get(name) or (Unit(name) if name[-1:] in {"2", "3"} else None)
