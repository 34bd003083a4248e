"""Words that the sources only deny: "with a GPS" for "no GPS is used"."""

import re
from collections.abc import Iterator, Sequence

from generator.checking.clauses import Bridge, Text, start_of_token, starting_in
from generator.checking.findings import GENERIC
from generator.checking.opposites import HARDLY, NOT
from indexer.analysis.tokens import Token

LACKING = re.compile(
    r"(?<!with and )(?<!with or )\b"
    r"(?:no(?! (?:longer|more|less|fewer|doubt|matter)\b)|without(?: (?:any|a|an|the))?)\s",
    re.IGNORECASE,
)
ENDS = re.compile(
    r"[,;.:()\n]|\b(?:and|or|but|nor|in|of|for|with|among|at|on|to|by|is|are|was|were|has|had|have)\b"
)
KOREAN_LACKING = re.compile(r"(?:[이가은는도]|을 쓰지|를 쓰지|을 넣지|를 넣지)? ?(?:없이|없는|않은|않고)")
# Words that say that something is not there without a "not".
SPARED = re.compile(
    r"\b(?:avoid|prevent|free|absen|lack|omit|exclud|instead|replac|unnecessary|dispens|spar|rul|lost|los[et]|miss)\w*|\b(?:unlike|except)\b"
    r"|대신|잃|놓치|닿지|피하|피할|막|방지|불필요|제외|빼|생략|배제|대체",
    re.IGNORECASE,
)
MOST_WORDS = 3
LONGEST_PHRASE = 40  # characters


def denied_terms(text: Text) -> set[str]:
    """Return the words that a text has behind "no" or "without", before 없이, and nowhere else."""
    denied = {id(token): token[0] for token in _denied(text)}
    others = {token[0] for token in text.tokens if id(token) not in denied}
    return set(denied.values()) - others - GENERIC


def _denied(text: Text) -> Iterator[Token]:
    for match in LACKING.finditer(text.text):
        far = match.end() + LONGEST_PHRASE
        end = ENDS.search(text.text, match.end(), far)
        stop = end.start() if end else far
        yield from starting_in(text.tokens, start_of_token, match.end(), stop)[:MOST_WORDS][-1:]
    ending_at = {token[3]: token for token in text.tokens}
    for match in KOREAN_LACKING.finditer(text.text):
        if match.start() in ending_at:
            yield ending_at[match.start()]


def stated_terms(own: Text, sources: Sequence[set[str]], held: set[str], bridge: Bridge) -> Iterator[str]:
    """Yield the words of a sentence that denies nothing which all its sources deny."""
    denied = set[str]().union(*sources)
    if not denied:
        return
    for clause in own.clauses:
        written = own.words_of(clause)
        if NOT.search(written) or HARDLY.search(written) or SPARED.search(written):
            continue
        for token in clause.tokens:
            found = bridge.matched((token,), denied)
            if found and not bridge.matched((token,), held - denied):
                yield own.text[token[2] : token[3]]
