"""What an English question asks to leave out: operators with the words behind them.

"Avoid", "exclude" and "do not mention" count as instructions only, at the start of a clause or behind
"please" or "but": "methods to avoid overfitting" is a topic. So is "without X": papers that do without X
name it.
"""

import re
from collections.abc import Iterator

from retriever.exclusions import Exclusion

SAYING = (
    r"(?:mention|discuss|cover|describe|address|cite|include|list|consider|report|repeat"
    r"|explain|recommend|suggest|(?:talk|write) about|speak (?:of|about)|touch (?:on|upon)|refer to|go into"
    r"|bring up|deal with)"
)
SAYING_ING = (
    r"(?:mentioning|discussing|covering|citing|talking about|writing about|speaking (?:of|about)"
    r"|touching (?:on|upon)|referring to|going into|bringing up)"
)
ADVERB = r"(?:(?:also|even|explicitly|again)\s+)?"
PREPOSITION = re.compile(
    r"\b(?:except(?: for)?|with the exception of|other than|apart from|aside from|besides|not including"
    r"|not counting|but not about|without (?:any )?(?:mention of|discussion of|reference to)"
    rf"|without {ADVERB}{SAYING_ING})\b\s*",
    re.IGNORECASE,
)
GERUND = re.compile(r"\b(?:excluding|leaving (?:out|aside)|omitting)\b\s*", re.IGNORECASE)
INSTRUCTION = re.compile(
    rf"\b(?:(?:do not|don['’]t|never) {ADVERB}{SAYING}|avoid {SAYING_ING}|exclude|omit|leave out|avoid)\b\s*",
    re.IGNORECASE,
)
# What an instruction begins with; a question that begins so can go on with another ("... and exclude X").
REQUESTS = (
    "summari[sz]e|outline|explain|describe|compare|find|give|list|show|tell|discuss|write|review|report|present|"
    "search|look|identify|name|focus|answer|collect|provide|please|recommend|introduce|analy[sz]e|survey"
)
REQUEST = re.compile(rf"\s*(?:(?:can|could|would|will) you\s+|please,?\s+)*(?:{REQUESTS})\b", re.IGNORECASE)
# Words that open a clause whose verbs are no instructions: "explain how birds find and avoid roads".
SUBORDINATE = re.compile(r"\b(?:how|to|that|which|who|what|why|whether|where|when)\b", re.IGNORECASE)
# What may stand between an instruction and the next.
AGAIN = re.compile(r"[^.?!]{0,200}(?:,|\b(?:and|or|nor))\s+", re.IGNORECASE)
# "No solvent other than water" asks for water.
NEGATED = re.compile(
    r"\b(?:no|nothing|none|nobody|not|never|without|cannot|\w+n['’]t)(?:\s+[\w-]+){0,4}\s*$", re.IGNORECASE
)
NOT = re.compile(r"\bnot\Z", re.IGNORECASE)  # directly before an operator: "not excluding methane"
# Two things that lie or are kept apart.
SEPARATED = re.compile(
    r"\b(?:sets?|tells?|telling|keeps?|spaced|far|stands?|falls?|grows?|liv(?:e|es|ing)|drifts?|take|teases?"
    r"|m|km|cm|mm|metres?|meters?|years?|hours?|days?)\b[^,.;?!]*$",
    re.IGNORECASE,
)
NOT_EXCEPT = re.compile(r"(?:that|when|if|as|where|clauses?|blocks?|statements?|handl\w+)\b", re.IGNORECASE)
# A gerund behind one of these is what is asked about: "the effect of excluding outliers".
GOVERNING = re.compile(
    r"\b(?:of|for|by|in|from|on|with|without|to|when|while|after|before|how|why|does|do|did|is|are|was|were|can"
    r"|could|should|would|will|than|about|through|via|versus|or)\s*$",
    re.IGNORECASE,
)
CLAUSE = (
    rf"(?:how|what|which|why|when|where|who|whose|whether|is|are|do|does|did|can|could|should|would|will|instead"
    rf"|only|{REQUESTS})\b"
)
# Where the words of an operator end.
SPAN_END = re.compile(
    rf"[,;:()\[\]?!]|(?<!\b[A-Z])\.(?=\s|$)|\s[-–—]\s|\band {CLAUSE}"
    r"|\b(?:but|while|whereas|then|because|since|how|what|which|why|when|where|who|whether)\b",
    re.IGNORECASE,
)
# In the middle of a sentence they end before a verb or preposition too: "factors besides heat affect yield".
TIGHT_END = re.compile(
    r"\b(?:is|are|was|were|be|been|do|does|did|can|could|may|might|will|would|should|must|has|have|had"
    r"|in|on|for|with|by|from|to|at|into|during|under|over|across|through|among|between|within|after|before"
    r"|as|than|that|used|using|based|there"
    r"|(?:affect|influence|impact|cause|improve|reduce|increase|decrease|lower|raise|determine|explain|predict|lead"
    r"|contribute|help|work|drive|show|produce|make|provide|support|change|control|prevent|limit|occur|exist"
    r"|matter|allow|enable|exhibit|achieve|reach|give|offer|serve|play|shape|treat|cure|kill|remove|detect|protect"
    r"|promote|inhibit|trigger|remain|become|depend|apply|emit|absorb|act|form|react|perform|outperform|suit|yield"
    r"|cost|need|require|use)s?"
    r"|\w{2,}(?:ed|if(?:y|ies)|solves?|[iy]zes?|(?<!tr)(?<!ph)(?<!bon)(?<!f)(?<!t)(?<!str)(?<!im)(?<!lic)ates?))\b",
    re.IGNORECASE,
)
TIGHT_WORDS = 4
# An aside that no comma closes ends before the verb of the question; "drugs that are new" is all excluded.
FINITE = re.compile(
    r"((?:(?!\b(?:that|whose|there)\b).)*?)\s+(?:is|are|was|were|has|have|had|does|did)\b", re.IGNORECASE
)
CLOSING = {"(": ")", "[": "]", '"': '"', "“": "”"}  # what is enclosed is excluded as a whole
ASIDE = (",", "(", "[", "–", "—", ";")  # what may stand before words that are said beside the sentence
LONGEST = 200  # characters of the words
BEFORE = 1_000  # characters before an operator that are looked at
LEADING = re.compile(r"(?:(?:the|any|a|an|all|in|by|of|just|only|simply)\s+)+", re.IGNORECASE)
NO_WORDS = re.compile(
    r"(?:nothing|none|(?-i:a)|an|the|any|that|this|it|them|these|those|each other|one another|expected|usual"
    r"|normal|us|you|me)?",
    re.IGNORECASE,
)


def english_exclusions(text: str) -> Iterator[Exclusion]:
    """Find what a composed question asks in English to leave out."""
    for match in PREPOSITION.finditer(text):
        before = _before(text, match)
        if not NOT.search(before) and _is_exclusion(before, match[0].strip(), text[match.end() :]):
            yield from _words_after(text, match, tight=not before.endswith(ASIDE))
    excluded = False  # by a gerund; another sentence may then exclude more
    for match in GERUND.finditer(text):
        before = _before(text, match)
        if NOT.search(before):
            continue
        aside, opens = before.endswith(ASIDE), not before or before[-1] in ".?!"
        whole = match[0].strip().lower() == "excluding" and not GOVERNING.search(before)
        for exclusion in _words_after(text, match, tight=not aside):
            behind = text[exclusion.end :].lstrip(')]"”')
            more = excluded and (not behind or behind[0] in ".?!")
            if aside or (more or behind.startswith(",") if opens else whole):
                excluded = True
                yield exclusion
    last_end = 0  # where the last instruction ends; another may follow it
    for match in INSTRUCTION.finditer(text):
        before = _before(text, match)
        again = last_end and AGAIN.fullmatch(text[last_end : match.start()])
        if again or _is_instruction(before, match[0].strip().lower()):
            for exclusion in _words_after(text, match, tight=False):
                last_end = exclusion.end
                yield exclusion


def _before(text: str, operator: re.Match[str]) -> str:
    return text[max(0, operator.start() - BEFORE) : operator.start()].rstrip()


def _is_exclusion(before: str, operator: str, behind: str) -> bool:
    """Tell whether a preposition leaves something out where it stands."""
    operator = operator.lower()
    if operator.startswith(("not ", "but not ", "without ")):
        return True
    if operator.startswith("apart") and SEPARATED.search(before):
        return False
    if operator.startswith("except") and (
        NOT_EXCEPT.match(behind) or before.lower().endswith(("try", "/", "`"))
    ):
        return False
    return not NEGATED.search(before)


def _is_instruction(before: str, verb: str) -> bool:
    """Tell whether a bare verb is said to the one who answers."""
    clause = re.split(r"(?<!\b[A-Z])\.(?=\s|$)|[!?;:]", before)[-1].strip().lower()
    if clause in {"", "and", "but"} or re.search(r"\bplease,?$", clause):
        return True
    if REQUEST.match(clause) and not SUBORDINATE.search(clause):
        return bool(re.search(r"(?:,|\(|\b(?:and|but|then))$", clause))
    return verb != "avoid" and bool(re.search(r"(?:\(|\bbut|,\s*and)$", clause))


def _words_after(text: str, operator: re.Match[str], *, tight: bool) -> Iterator[Exclusion]:
    """Yield the exclusion of an English operator and the words behind it, none where there are none."""
    start = operator.end()
    if skipped := LEADING.match(text, start):
        start = skipped.end()
    words = text[start : start + LONGEST]
    if (closing := CLOSING.get(words[:1])) and (enclosed := words[1:].partition(closing))[1]:
        words = enclosed[0].strip()
        start = text.index(words, start + 1)
        if not NO_WORDS.fullmatch(words):
            yield Exclusion(words, operator[0].strip(), operator.start(), start + len(words))
        return
    end = SPAN_END.search(words)
    words = words[: end.start() if end else None]
    opens = not text[: operator.start()].strip() and text.startswith(",", start + len(words))
    if tight and not opens and (first := re.match(r"\S+", words)):  # which is no verb: "lead-acid"
        verb = TIGHT_END.search(words, first.end())
        words = "".join(re.findall(r"\S+\s*", words[: verb.start() if verb else None])[:TIGHT_WORDS])
    elif not tight and operator.re is not INSTRUCTION and (clause := FINITE.match(words)):
        words = clause[1]
    words = re.sub(r"(?:,?\s+(?:and|or|nor))+\Z", "", words.rstrip()).rstrip(".")
    if not NO_WORDS.fullmatch(words):
        yield Exclusion(words, operator[0].strip(), operator.start(), start + len(words))
