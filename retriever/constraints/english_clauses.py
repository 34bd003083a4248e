"""Clauses of English questions: the clause in which an operator occurs, and the words that it excludes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from base.patterns import lazy_regex
from retriever.constraints.exclusions import Exclusion
from retriever.constraints.publication_years import ENGLISH_PAPERS

REQUESTS = (
    "summari[sz]e|outline|explain|describe|compare|find|give|list|show|tell|discuss|write|review|report|present|"
    "search|look|identify|name|focus|answer|collect|provide|please|recommend|introduce|analy[sz]e|survey"
)
CLAUSE = (
    rf"(?:how|what|which|why|when|where|who|whose|whether|is|are|do|does|did|can|could|should|would|will|instead"
    rf"|only|{REQUESTS})\b"
)
SPAN_END = lazy_regex(
    rf"[,;:()\[\]?!]|(?<!\b[A-Z])\.(?=\s|$)|\s[-–—]\s|\band {CLAUSE}"
    r"|\b(?:but|while|whereas|then|because|since|please|how|what|which|why|when|where|who|whether)\b",
    re.IGNORECASE,
)
# In the middle of a sentence the words also end before a verb or a preposition: "gases except CO2 affect it".
TIGHT_END = lazy_regex(
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
FINITE = lazy_regex(
    r"((?:(?!\b(?:that|whose|there)\b).)*?)\s+(?:is|are|was|were|has|have|had|does|did)\b", re.IGNORECASE
)
CLOSING = {"(": ")", "[": "]", '"': '"', "“": "”"}  # words in brackets or quotation marks are excluded whole
ASIDE = (",", "(", "[", "–", "—", ";")  # the end of the text before an aside
LONGEST = 200  # characters of the words
LEADING = lazy_regex(
    r"(?:(?:the|any|a|an|all|in|on|by|of|for|about|regarding|concerning|just|only|simply|using|its|their|his|her|our|my|your"
    rf"|{ENGLISH_PAPERS} (?:on|about|of|concerning|dealing with|that deal with|related to))\s+)+",
    re.IGNORECASE,
)
NO_WORDS = lazy_regex(
    r"(?:nothing|none|(?-i:a)|an|the|any|that|this|it|its|them|these|those|each other|one another|expected"
    r"|usual|normal|us|you|me|mean|few|one|ones|anything|something|everything)?",
    re.IGNORECASE,
)
BEFORE = 1_000  # characters before an operator that are read
SENTENCE_END = lazy_regex(r"(?<!\b[A-Z])\.(?=\s|$)|[!?;:]")
WANTED = r"(?:(?:I|we) (?:want|need|would like|am looking for|are looking for)|I['’]m looking for)\b"
REQUEST = lazy_regex(
    rf"\s*(?:(?:(?:can|could|would|will) you\s+|please,?\s+)*(?:{REQUESTS})\b|{WANTED})", re.IGNORECASE
)
WHY = lazy_regex(r"\bwhy\b", re.IGNORECASE)
POLAR = lazy_regex(
    r"\s*(?:and |but |so )?(?:is|are|was|were|am|do|does|did|can|could|has|have|had|will|would|should|may"
    r"|might|must)(?:n['’]t)?\b",
    re.IGNORECASE,
)
# Words that open a clause whose verbs are no instructions: "explain how birds find and avoid roads".
SUBORDINATE = lazy_regex(r"\b(?:how|to|that|which|who|what|why|whether|where|when)\b", re.IGNORECASE)
PAPERS = lazy_regex(rf"\b{ENGLISH_PAPERS}\b", re.IGNORECASE)
RELATIVE = lazy_regex(
    r"\b(?:that|which|who|whose|where|how|why|what|showing|reporting|finding|is|are|was|were|do|does|did|has|have"
    r"|can)\b",
    re.IGNORECASE,
)
# Properties that a contrast may belong to: "active in mice but not in rats".
PROPERTIES = (
    r"\w{3,}ed|\w{3,}[ai]ble|found|seen|known|grown|made|shown|active|present|common|toxic|effective|necessary"
    r"|sufficient|safe|specific|sensitive"
)
PROPERTY = lazy_regex(rf"\b(?:{PROPERTIES})\b", re.IGNORECASE)
PREDICATE = lazy_regex(
    r"\b(?:am|is|are|was|were|be|been|do|does|did|has|have|had|can|could|will|would|should|may|might|must"
    rf"|that|which|who|whose|what|how|why|where|when|it|there|we|they|he|she|I|{PROPERTIES})\b",
    re.IGNORECASE,
)
MARK = lazy_regex(r"[^.!;]*\?")


def words_after(
    text: str, operator: re.Match[str], *, tight: bool, whole: bool = False
) -> Iterator[Exclusion]:
    """Yield the exclusion of an operator and the words after it; nothing if no words follow.

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


@dataclass(frozen=True, slots=True)
class Clause:
    """The text around an operator within its sentence."""

    before: str
    behind: str
    is_aside: bool  # a comma or a bracket separates the operator from the text before it

    @classmethod
    def around(cls, text: str, operator: re.Match[str]) -> "Clause":
        """Return the clause around an operator."""
        before = text[max(0, operator.start() - BEFORE) : operator.start()].rstrip()
        return cls(SENTENCE_END.split(before)[-1].strip(), text[operator.end() :], before.endswith(ASIDE))

    @property
    def main(self) -> str:
        """The clause that asks: the text before the operator, or after the comma of an opening phrase."""
        return self.before or self.behind.partition(",")[2]

    @property
    def is_request(self) -> bool:
        """Whether the clause tells the reader to do something."""
        return bool(REQUEST.match(self.main))

    @property
    def asks_why(self) -> bool:
        """Whether the clause asks for a reason."""
        return not self.is_request and bool(WHY.search(self.main))

    @property
    def is_polar(self) -> bool:
        """Whether yes or no would be an answer."""
        return not self.is_request and bool(POLAR.match(self.main))

    @property
    def is_plain_request(self) -> bool:
        """Whether a request has no subordinate clause that the operator could belong to."""
        return self.is_request and not SUBORDINATE.search(self.before)

    @property
    def names_papers(self) -> bool:
        """Whether papers are the subject, with no clause after them that the operator could belong to."""
        found = PAPERS.search(self.before)
        return bool(found) and not RELATIVE.search(self.before, found.end() if found else 0)

    @property
    def is_fragment(self) -> bool:
        """Whether the clause is a noun phrase, as typed into a search box."""
        return bool(self.before) and not PREDICATE.search(self.before) and not MARK.match(self.behind)
