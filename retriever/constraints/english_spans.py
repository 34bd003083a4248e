"""The words that an English operator excludes: where they start and end."""

import re
from collections.abc import Iterator

from retriever.constraints.exclusions import Exclusion
from retriever.constraints.publication_words import ENGLISH_PAPERS

REQUESTS = (
    "summari[sz]e|outline|explain|describe|compare|find|give|list|show|tell|discuss|write|review|report|present|"
    "search|look|identify|name|focus|answer|collect|provide|please|recommend|introduce|analy[sz]e|survey"
)
CLAUSE = (
    rf"(?:how|what|which|why|when|where|who|whose|whether|is|are|do|does|did|can|could|should|would|will|instead"
    rf"|only|{REQUESTS})\b"
)
SPAN_END = re.compile(
    rf"[,;:()\[\]?!]|(?<!\b[A-Z])\.(?=\s|$)|\s[-–—]\s|\band {CLAUSE}"
    r"|\b(?:but|while|whereas|then|because|since|please|how|what|which|why|when|where|who|whether)\b",
    re.IGNORECASE,
)
# In the middle of a sentence the words also end before a verb or a preposition: "gases except CO2 affect it".
TIGHT_END = re.compile(
    r"\b(?:is|are|was|were|be|been|do|does|did|can|could|may|might|will|would|should|must|has|have|had"
    r"|in|on|for|with|by|from|to|at|into|during|under|over|across|through|among|between|within|after|before"
    r"|as|than|that|used|using|based|there"
    r"|(?:affect|influence|impact|cause|improve|reduce|increase|decrease|lower|raise|determine|explain|predict|lead"
    r"|contribute|help|work|drive|show|produce|make|provide|support|change|control|prevent|limit|occur|exist"
    r"|matter|allow|enable|exhibit|achieve|reach|give|offer|serve|play|shape|treat|cure|kill|remove|detect|protect"
    r"|promote|inhibit|trigger|remain|become|depend|apply|emit|absorb|act|form|react|perform|outperform|suit|yield"
    r"|cost|need|require|use|grow|melt|bear|resist|contain|carry|eat|live|hold|conduct|store|burn|survive|spread)s?"
    r"|\w{2,}(?:ed|if(?:y|ies)|solves?|[iy]zes?|(?<!tr)(?<!ph)(?<!bon)(?<!f)(?<!t)(?<!str)(?<!im)(?<!lic)ates?))\b",
    re.IGNORECASE,
)
TIGHT_WORDS = 4
# An aside without a closing comma ends before the verb of the question; "drugs that are new" is whole.
FINITE = re.compile(
    r"((?:(?!\b(?:that|whose|there)\b).)*?)\s+(?:is|are|was|were|has|have|had|does|did)\b", re.IGNORECASE
)
CLOSING = {"(": ")", "[": "]", '"': '"', "“": "”"}  # words in brackets or quotation marks are excluded whole
ASIDE = (",", "(", "[", "–", "—", ";")  # the end of the text before an aside
LONGEST = 200  # characters of the words
LEADING = re.compile(
    r"(?:(?:the|any|a|an|all|in|on|by|of|for|about|regarding|concerning|just|only|simply|using|its|their|his|her|our|my|your"
    rf"|{ENGLISH_PAPERS} (?:on|about|of|concerning|dealing with|that deal with|related to))\s+)+",
    re.IGNORECASE,
)
NO_WORDS = re.compile(
    r"(?:nothing|none|(?-i:a)|an|the|any|that|this|it|its|them|these|those|each other|one another|expected"
    r"|usual|normal|us|you|me|mean|few|one|ones|anything|something|everything)?",
    re.IGNORECASE,
)


def words_after(
    text: str, operator: re.Match[str], *, tight: bool, whole: bool = False
) -> Iterator[Exclusion]:
    """Yield the exclusion of an operator and the words after it; nothing where no words follow.

    `tight` words stop at a verb or preposition, since the sentence continues. A `whole` clause, as after an
    instruction, may contain a verb.
    """
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
    if tight and not opens and (first := re.match(r"\S+", words)):  # the first word is no verb: "lead-acid"
        verb = TIGHT_END.search(words, first.end())
        words = "".join(re.findall(r"\S+\s*", words[: verb.start() if verb else None])[:TIGHT_WORDS])
    elif not tight and not whole and (clause := FINITE.match(words)):
        words = clause[1]
    words = re.sub(r"(?:,?\s+(?:and|or|nor))+\Z", "", words.rstrip()).rstrip(".")
    if not NO_WORDS.fullmatch(words):
        yield Exclusion(words, operator[0].strip(), operator.start(), start + len(words))
