"""Exclusions in English questions: operators with the words after them.

"Avoid", "exclude" and "do not mention" count as instructions only, at the start of a clause or after "please"
or "but": "methods to avoid overfitting" is a topic. "Besides X" and "other than X, what else" ask for more
than X and exclude nothing. "Without X" is a topic, since papers that do without X name it; only an absent
technique ("without X-rays") is excluded.
"""

import re
from collections.abc import Callable, Iterator

from base.patterns import lazy_regex
from retriever.constraints.english_clauses import PROPERTY, SUBORDINATE, Clause, words_after
from retriever.constraints.exclusions import Exclusion

SAYING = (
    r"(?:mention|discuss|cover|describe|address|cite|include|list|consider|report|repeat"
    r"|explain|recommend|suggest|(?:talk|write) about|speak (?:of|about)|touch (?:on|upon)|refer to|go into"
    r"|bring up|deal with|focus on|reference)"
)
SAYING_ING = (
    r"(?:mentioning|discussing|covering|citing|talking about|writing about|speaking (?:of|about)"
    r"|touching (?:on|upon)|referring to|going into|bringing up|considering|focuss?ing on|referencing"
    r"|addressing|dealing with|regarding|concerning)"
)
ADVERB = r"(?:(?:also|even|explicitly|again)\s+)?"
MENTION = r"(?:any\s+|all\s+)?(?:mentions? of|discussions? of|references? to|focus on|consideration of)"
EXCEPT = r"\b(?:except(?: for)?|with the exception of|not including|not counting)\b\s*"
OTHER_THAN = r"\b(?:other than|apart from|aside from)\b\s*"
UNSAID = (
    rf"\b(?:(?:without|with no|avoiding) {MENTION}|(?:without|avoiding) {ADVERB}{SAYING_ING}"
    r"|with nothing (?:about|on))\b\s*"
)
ABOUT = (
    r"(?:about|related to|dealing with|concern(?:ed with|ing)|involving|focuss?(?:ed|ing) on|discussing"
    r"|covering|regarding)"
)
# Not "report": firms that do not report emissions.
TREAT = r"(?:mention|discuss|cover|deal with|focus on|talk about|touch (?:on|upon)|involve|concern)"
NOT_ABOUT = (
    rf"\b(?:(?:that|which)\s+(?:(?:are|is|were)(?:\s+not|n['’]t)\s+(?:on|{ABOUT})"
    rf"|(?:do|does|did)(?:\s+not|n['’]t)\s+{TREAT})|(?<!but )(?<!and )not {ABOUT})\b\s*"
)
PREPOSITION = r"(?:about|in|on|for|by|with|from|among|at|through|via|within)"
# Not a topic: "but not always", "but not sufficient", "but not in practice". Years are read elsewhere.
NO_TOPIC = (
    r"(?!(?:only|just|always|necessarily|yet|all|every|each|much|many|enough|so|too|quite|very|really|limited"
    r"|least|last|both|if|when|until|till|before|after|since|the other|vice|exclusively|solely|merely|to"
    r"|an?y?|it|excluding|including|counting|published|written|mention\w*|regarding|concern\w*|cooked|sufficient|necessary|freezing"
    rf"|(?:{PREPOSITION}\s+)?(?:\d|practice|theory|reality|fact|general|principle|order|itself|themselves|time"
    r"|vain))\b)"
)
BUT_NOT = rf"\b(?:but|and) not\s+{NO_TOPIC}(?:{PREPOSITION}\s+)?"
COMMA_NOT = rf"\bnot\s+{NO_TOPIC}(?:{PREPOSITION}\s+)?"
NO_PLEASE = r"\bno\s+(?=[^.?!,;]{1,60},?\s+please\b)"
TECHNIQUE = r"(?:X[- ]?rays?|(?-i:MRI|CT|PET|GPS|PCR|EEG|ECG)|\w+(?:graphy|scopy|metry))\b"
WITHOUT_TECHNIQUE = rf"\bwithout\s+(?:(?:any|an?|the|using)\s+)*(?={TECHNIQUE})"
NOT_INTERESTED = (
    r"\b(?:I am|I['’]m|we are|we['’]re) not interested in\s+"
    r"|\b(?:I|we) (?:do not|don['’]t) (?:want|need) (?:any(?:thing)?|papers?|studies|articles?|results)\s+"
    r"(?:on|about)\s+"
)
AVOIDING = rf"\bavoiding\s+(?!{MENTION}|{SAYING_ING})"
# "No solvent other than water" asks for water.
NEGATED = lazy_regex(
    r"\b(?:no|nothing|none|nobody|not|never|without|cannot|\w+n['’]t)(?:\s+[\w-]+){0,4}\s*$"
    r"|\b(?:any|some|every)(?:thing|one|body|where)\s*$",
    re.IGNORECASE,
)
# "Why do all birds except penguins fly" is about penguins.
UNIVERSAL = lazy_regex(
    r"\b(?:all|every\w*|each|any\w*|always|no|nothing|nobody|none|never|the words?)\b", re.IGNORECASE
)
EXISTENTIAL = lazy_regex(r"\s*(?:is|are|was|were) there\b", re.IGNORECASE)
# Words with which a question asks for more of the same.
ADDITIVE = lazy_regex(
    r"\b(?:what|which|who|where|how|any|some) (?:other|else|more|further)\b(?! than)"
    r"|\b(?:else|also|additional|another|as well)\b",
    re.IGNORECASE,
)
OPENING_GERUND = lazy_regex(r"(?:being|having)\b", re.IGNORECASE)
# Two things that are kept apart.
SEPARATED = lazy_regex(
    r"\b(?:sets?|tells?|telling|keeps?|spaced|far|stands?|falls?|grows?|liv(?:e|es|ing)|drifts?|take|teases?"
    r"|split|m|km|cm|mm|metres?|meters?|years?|hours?|days?)\b[^,.;?!]*$",
    re.IGNORECASE,
)
NOT_EXCEPT = lazy_regex(
    r"(?:that|when|if|as|where|in|on|clauses?|blocks?|statements?|handl\w+)\b", re.IGNORECASE
)
# A person who acts in the clause may be the one who leaves something unsaid.
AGENT = lazy_regex(
    r"\b(?:people|persons?|men|women|children|students?|pupils?|patients?|parents?|consumers?|users?|we|they"
    r"|you|he|she|one|someone|doctors?|physicians?|nurses?|teachers?|authors?|writers?|editors?|drivers?|investors?|managers?"
    r"|politicians?|voters?|companies|firms|banks|states|countries|governments?|journalists?|scientists?"
    r"|researchers?|engineers?|lawyers?|judges?|speakers?)\b",
    re.IGNORECASE,
)
WHICH = lazy_regex(r"(?:what|which)\b", re.IGNORECASE)
PASSIVE_HOW = lazy_regex(
    r"how (?:(?:is|are|was|were)\b|(?:can|could|may|might|should)\b[^,]* be\b)", re.IGNORECASE
)
MEANS = lazy_regex(
    r"(?:how (?:can|could|to|is|are|was|were|might|should)\b|[^,]*\b(?:methods?|ways?|techniques?|tools?)\b)",
    re.IGNORECASE,
)
# Without one of these words a question has no operator.
CUE = lazy_regex(
    r"\b(?:except|exception|than|apart|aside|without|no|not|nothing|never|avoid\w*|ignor\w+|disregard\w*|exclud\w+"
    r"|omit\w*|leav(?:e|ing))\b|n['’]t\b",
    re.IGNORECASE,
)
GERUND = lazy_regex(
    r"\b(?:excluding|(?:while )?(?:leaving (?:out|aside)|setting aside|ignoring)|omitting|disregarding)\b\s*",
    re.IGNORECASE,
)
INSTRUCTION = lazy_regex(
    rf"\b(?:(?:do not|don['’]t|never) {ADVERB}{SAYING}|avoid (?:{SAYING_ING}|{MENTION})|exclude|omit"
    r"|leave out|ignore|disregard|avoid)\b\s*",
    re.IGNORECASE,
)
# Text that may separate an instruction from the next one.
AGAIN = lazy_regex(r"[^.?!]{0,200}(?:,|\b(?:and|or|nor))\s+", re.IGNORECASE)
NOT = lazy_regex(r"\bnot\Z", re.IGNORECASE)  # directly before an operator: "not excluding methane"
# A gerund after one of these words is the subject of the question: "the effect of excluding outliers".
GOVERNING = lazy_regex(
    r"\b(?:of|for|by|in|from|on|with|without|to|when|while|after|before|how|why|does|do|did|is|are|was|were|can"
    r"|could|should|would|will|than|about|through|via|versus|or|diets?)\s*$",
    re.IGNORECASE,
)


def _is_exception(clause: Clause, operator: str) -> bool:
    if NOT_EXCEPT.match(clause.behind) or clause.before.lower().endswith(("try", "/", "`")):
        return False
    if operator.startswith("not "):
        return True
    if clause.is_polar and not EXISTENTIAL.match(clause.main):
        return False
    if not clause.is_request and (clause.asks_why or UNIVERSAL.search(clause.before)):
        return False
    return not NEGATED.search(clause.before)


def _is_another(clause: Clause, operator: str) -> bool:
    opens_polar = not clause.before and clause.is_polar
    if opens_polar or clause.asks_why or ADDITIVE.search(f"{clause.before} {clause.behind}"):
        return False
    if operator.startswith("a") and OPENING_GERUND.match(clause.behind):
        return False
    if operator.startswith("apart") and SEPARATED.search(clause.before):
        return False
    return not NEGATED.search(clause.before)


def _is_unsaid(clause: Clause, _: str) -> bool:
    if clause.is_polar or clause.asks_why:
        return False
    return clause.is_aside or clause.is_request or not AGENT.search(clause.before)


def _is_about_papers(clause: Clause, _: str) -> bool:
    return clause.is_plain_request or clause.names_papers or clause.is_fragment


def _is_contrast(clause: Clause, operator: str) -> bool:
    if clause.is_polar or clause.asks_why:
        return False
    names_place = not operator.endswith("not")
    if operator.endswith(" about") or clause.is_fragment:
        return True
    if clause.is_plain_request or clause.names_papers:
        return not (names_place and PROPERTY.search(clause.before))
    if not clause.is_aside or operator.startswith("and"):
        return False
    if WHICH.match(clause.main):
        return names_place or operator.startswith("but")
    return names_place and bool(PASSIVE_HOW.match(clause.main))


def _is_by_other_means(clause: Clause, _: str) -> bool:
    return clause.is_request or (not clause.is_polar and bool(MEANS.match(clause.main)))


def _is_avoided(clause: Clause, _: str) -> bool:
    return clause.is_aside and clause.is_plain_request


def _is_said_aside(clause: Clause, operator: str) -> bool:
    return clause.is_aside and _is_contrast(clause, operator)


def _is_aside(clause: Clause, _: str) -> bool:
    return clause.is_aside


def _always(_: Clause, __: str) -> bool:
    return True


# Each operator with the clauses in which it excludes.
OPERATORS: tuple[tuple[re.Pattern[str], Callable[[Clause, str], bool]], ...] = tuple(
    (lazy_regex(pattern, re.IGNORECASE), allowed)
    for pattern, allowed in (
        (EXCEPT, _is_exception),
        (OTHER_THAN, _is_another),
        (UNSAID, _is_unsaid),
        (NOT_ABOUT, _is_about_papers),
        (BUT_NOT, _is_contrast),
        (COMMA_NOT, _is_said_aside),
        (WITHOUT_TECHNIQUE, _is_by_other_means),
        (AVOIDING, _is_avoided),
        (NOT_INTERESTED, _always),
        (NO_PLEASE, _is_aside),
    )
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
