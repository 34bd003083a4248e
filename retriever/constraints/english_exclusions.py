"""Exclusions in English questions: operators with the words after them.

"Avoid", "exclude" and "do not mention" count as instructions only, at the start of a clause or after "please"
or "but": "methods to avoid overfitting" is a topic.
"""

import re
from collections.abc import Iterator

from retriever.constraints.english_clauses import SUBORDINATE, Clause
from retriever.constraints.english_operators import ADVERB, MENTION, OPERATORS, SAYING, SAYING_ING
from retriever.constraints.english_spans import words_after
from retriever.constraints.exclusions import Exclusion

# Without one of these words a question has no operator.
CUE = re.compile(
    r"\b(?:except|exception|than|apart|aside|without|no|not|nothing|never|avoid\w*|ignor\w+|disregard\w*|exclud\w+"
    r"|omit\w*|leav(?:e|ing))\b|n['’]t\b",
    re.IGNORECASE,
)
GERUND = re.compile(
    r"\b(?:excluding|(?:while )?(?:leaving (?:out|aside)|setting aside|ignoring)|omitting|disregarding)\b\s*",
    re.IGNORECASE,
)
INSTRUCTION = re.compile(
    rf"\b(?:(?:do not|don['’]t|never) {ADVERB}{SAYING}|avoid (?:{SAYING_ING}|{MENTION})|exclude|omit"
    r"|leave out|ignore|disregard|avoid)\b\s*",
    re.IGNORECASE,
)
# Text that may separate an instruction from the next one.
AGAIN = re.compile(r"[^.?!]{0,200}(?:,|\b(?:and|or|nor))\s+", re.IGNORECASE)
NOT = re.compile(r"\bnot\Z", re.IGNORECASE)  # directly before an operator: "not excluding methane"
# A gerund after one of these words is the subject of the question: "the effect of excluding outliers".
GOVERNING = re.compile(
    r"\b(?:of|for|by|in|from|on|with|without|to|when|while|after|before|how|why|does|do|did|is|are|was|were|can"
    r"|could|should|would|will|than|about|through|via|versus|or|diets?)\s*$",
    re.IGNORECASE,
)


def english_exclusions(text: str) -> Iterator[Exclusion]:
    """Find the English exclusions of a composed (NFC) question."""
    if not CUE.search(text):
        return
    for pattern, allowed in OPERATORS:
        for match in pattern.finditer(text):
            clause = Clause.around(text, match)
            if not NOT.search(clause.before) and allowed(clause, " ".join(match[0].lower().split())):
                yield from words_after(text, match, tight=not clause.is_aside)
    yield from _gerunds(text)
    yield from _instructions(text)


def _gerunds(text: str) -> Iterator[Exclusion]:
    excluded = False  # by a gerund; another sentence may then exclude more
    for match in GERUND.finditer(text):
        before = text[: match.start()].rstrip()
        clause = Clause.around(text, match)
        if NOT.search(before):
            continue
        aside = clause.is_aside or (match[0].lower().startswith("while") and clause.is_request)
        opens = not before or before[-1] in ".?!"
        whole = match[0].strip().lower() == "excluding" and not GOVERNING.search(before)
        whole = whole and not clause.is_polar and not clause.asks_why
        for exclusion in words_after(text, match, tight=not aside):
            behind = text[exclusion.end :].lstrip(')]"”')
            more = excluded and (not behind or behind[0] in ".?!")
            if aside or (more or behind.startswith(",") if opens else whole):
                excluded = True
                yield exclusion


def _instructions(text: str) -> Iterator[Exclusion]:
    last_end = 0  # where the last instruction ends; another may follow it
    for match in INSTRUCTION.finditer(text):
        again = last_end and AGAIN.fullmatch(text[last_end : match.start()])
        if again or _is_instruction(Clause.around(text, match), match[0].strip().lower()):
            for exclusion in words_after(text, match, tight=False, whole=True):
                last_end = exclusion.end
                yield exclusion


def _is_instruction(clause: Clause, verb: str) -> bool:
    """Check whether a bare verb is an instruction to the reader."""
    before = clause.before.lower()
    if before in {"", "and", "but"} or re.search(r"\bplease,?$", before):
        return True
    if clause.is_request and not SUBORDINATE.search(before):
        return bool(re.search(r"(?:,|\(|\b(?:and|but|then))$", before))
    if verb in {"avoid", "ignore", "disregard"} or clause.asks_why or clause.is_polar:
        return False
    return bool(re.search(r"(?:\(|\bbut|,\s*and)$", before))
