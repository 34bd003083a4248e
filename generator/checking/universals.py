"""Words that claim everything where the sources do not: all, never, in the world, at least, 모든, 세계 최초.

A source supports such a word by one of the same kind where it speaks of the same: "every" by "all".
"""

import re
from collections.abc import Iterator, Sequence
from importlib import resources

from generator.checking.clauses import Bridge, Text, nearest_sentences
from indexer.analysis.tokens import Token

# Both of two, all three: 두 지역 모두, 당진과 해남 모두.
COUNTED = re.compile(r"(?:(?:둘|두|세|네|양쪽|양|\d)\s?[가-힣]{0,5}|[와과] [가-힣]{1,6})\s?$")
SHORTLY_BEFORE = 12  # characters
NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Of what the best sentence of the sources shares; across languages the glossary leaves much out.
NEAR_A_UNIVERSAL, NEAR_ACROSS = 0.75, 0.5
TABLE = (resources.files("generator.checking") / "universals.tsv").read_text(encoding="utf-8").splitlines()
KINDS = {kind: words for kind, *words in (line.split("\t") for line in TABLE[1:])}
CLAIMS = {kind: re.compile(own, re.IGNORECASE) for kind, (own, _) in KINDS.items()}
ALLOWED = {kind: re.compile(f"{own}|{more}", re.IGNORECASE) for kind, (own, more) in KINDS.items()}


def unsaid_universals(own: Text, sources: Sequence[Text], bridge: Bridge, *, across: bool) -> Iterator[str]:
    """Yield the words of a sentence that claim everything where its sources do not.

    They are looked for in the sentences of the sources that share most with the clause of the word.
    """
    nearly = NEAR_ACROSS if across else NEAR_A_UNIVERSAL
    near: dict[tuple[Token, ...], list[str]] = {}  # of a clause, however many such words it has
    for kind, pattern in CLAIMS.items():
        for match in pattern.finditer(own.text):
            before = own.text[max(0, match.start() - SHORTLY_BEFORE) : match.start()]
            if match[0] == "모두" and COUNTED.search(before):
                continue
            tokens = own.tokens_around(match.start())
            if tokens not in near:
                found = nearest_sentences(sources, tokens, bridge, nearly)
                near[tokens] = [text for sentences in found for text in sentences.values()]
            if not any(ALLOWED[kind].search(text) or _ranked(kind, text) for text in near[tokens]):
                yield match[0].strip()


def _ranked(kind: str, text: str) -> bool:
    """Return whether a superlative may come from numbers that a sentence compares."""
    return kind == "superlative" and len(NUMBER.findall(text)) > 1
