"""English questions without a question mark, recognised by the order of their words.

A question has an auxiliary before its subject: "How does drainage change the yield". A statement with the
same first word has another order ("How drainage changes the yield was studied"), a verb behind the clause
("What we found is a decline"), or no subject ("Can be used for rice").
"""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from base.patterns import lazy_regex

MOST_WORDS = 60  # of a sentence that are read
MOST_BETWEEN = 9  # words between the asking word and its auxiliary: "Which of the two drained plots were"
LONGEST_DEGREE = 4  # place of the auxiliary of "How closely related are"
LEAST_CLAUSE = 3  # words of a clause with a verb: "Which bacteria cause disease was studied"

# Quotes, bullets and a number of one or two digits, then the first word.
BEGINNING = lazy_regex(r"\W{0,9}(?:\d{1,2}[.):\]]\s{0,9})?\W{0,9}(?P<word>[A-Za-z]+)")
TOKEN = lazy_regex(r"[\w-]+(?:['’](?!s\b)\w+)*|['’]s\b|[,;:]")
# The title of a work: "Does It Rain" is a song; Does It Rain? is a song.
NAMED = lazy_regex(
    r"\W{0,9}(?:[\"“]|``)[^\"”]{1,200}?(?:[\"”]|'')\s{1,9}\w|[^?]{1,200}\?[\"”']{0,2}\s{1,9}(?:is|are|was|were)\b"
)

DO = frozenset("do does did".split())
BE = frozenset("is are was were 's".split())
SINGULAR = frozenset("is was".split())
HAVE = frozenset("has have had".split())
MODAL = frozenset("can could should would will may might must shall".split())
AUXILIARIES = DO | BE | HAVE | MODAL
YES_OR_NO = DO | HAVE | frozenset("is are was were can could should would".split())
CONDITIONAL = frozenset("were had should".split())  # "Were the plots drained, emission would fall"
MAIN_VERBS = AUXILIARIES | frozenset("depend depends depended become becomes became seems seemed".split())

ASKING = frozenset("what which who whose whom how why when where".split())
ADVERBIAL = frozenset("why when where".split())
PREPOSITIONS = frozenset("to in at by for from on under with through of since until into".split())
FIRST_WORDS = ASKING | PREPOSITIONS | YES_OR_NO
# Words that introduce a clause with another verb.
SUBORDINATE = ASKING | frozenset("that whether if while because than as after before since".split())
DEGREE = frozenset("many much few little".split())
ADVERBS = frozenset("far long often well fast soon early late quickly slowly old large big high deep".split())

PRONOUNS = frozenset("i you we they he she it there this these those".split())
ARTICLES = frozenset("the a an our their its his her my your each both any some no one all".split())
SUBJECTS = PRONOUNS | ARTICLES
# Words behind an auxiliary that are no subject.
NO_SUBJECT = (
    AUXILIARIES
    | ASKING
    | frozenset("be been being not also only still now first best often most more then and or but".split())
    | frozenset(", ; : that to of in on at by for from with as into through whether because if so".split())
)
# Words behind "what is" and "which plots are" of a statement.
NO_OBJECT = ASKING | frozenset("that , and or because whether".split())
# Behind a participle or adjective that belongs to the auxiliary.
BEHIND_VERB = NO_SUBJECT | frozenset("the a an under between during after before using per over".split())
PARTICIPLES = frozenset("shown known found given made taken seen done written held built meant set".split())
PLURAL = lazy_regex(r"\w+[^s]s")
PARTICIPLE = lazy_regex(r"\w{2,}(?:ed|ing)")
# Verbs of a sentence without a subject: "Can lead to losses."
BARE_VERBS = frozenset("lead cause help serve provide occur result contribute act become".split())
# "Which explains the loss" continues the sentence before it.
RESUMING = lazy_regex(
    r"explain|show|mean|suggest|indicat|mak|made|lead|led$|allow|impl|confirm|becom|becam|leave|left$|"
    r"bring|brought|giv|gave|result|contribut|enabl|prevent|help|require"
)
NO_VERB_BEHIND = frozenset("to the a an of".split())  # to have, the will
NOUNS_IN_LY = frozenset("family supply assembly anomaly butterfly monopoly".split())
# Participles and adjectives by which a statement describes a question.
REPORTED = frozenset(
    "unknown unclear uncertain unresolved open elusive controversial known understood clear studied examined "
    "investigated tested explored analysed analyzed assessed evaluated discussed described explained "
    "reported determined measured compared considered reviewed addressed debated disputed demonstrated "
    "illustrated presented estimated predicted modelled modeled simulated identified summarised summarized "
    "outlined established decided".split()
)
FILLERS = frozenset("not still yet also be been being now".split())


def begins_asking(sentence: str) -> bool:
    """Check whether an English sentence is a question by the order of its words; its mark is not needed."""
    words = _words(sentence)
    first, second = (*words, "", "")[:2]
    if first in PREPOSITIONS:
        return second in ASKING and _asks_behind_preposition(words[1:])
    if first in YES_OR_NO:
        return _is_yes_or_no(words)
    if first == "how":
        return _asks_how(words)
    if first in ADVERBIAL:
        is_refusal = first == "why" and second == "not"
        return is_refusal or _has_subject_behind(words, 2 if _is_adverb(second) else 1)
    return first in ASKING and _asks_for_a_thing(words)


def _words(sentence: str) -> list[str]:
    """Return the first words and separators of a sentence in lower case, if it may be a question."""
    first = BEGINNING.match(sentence)
    if (
        not first
        or first["word"].lower() not in FIRST_WORDS
        or first["word"].isupper()
        or NAMED.match(sentence)
    ):
        return []
    found = islice(TOKEN.finditer(sentence, first.start("word")), MOST_WORDS)
    tokens = [token[0].replace("’", "'") for token in found]
    # Italy and Dolly are no adverbs.
    words = [token if token.endswith("ly") and not token.islower() else token.lower() for token in tokens]
    pairs = zip(words, ["", *words], strict=False)
    return [word for word, before in pairs if word != "'s" or before in ASKING]


def _is_yes_or_no(words: Sequence[str]) -> bool:
    """Check for "Does X …", "Is X …" with a subject, and no second verb."""
    first, second, third = (*words, "", "", "")[:3]
    if not _is_subject(first, second, third) or (first in MODAL and second in BARE_VERBS):
        return False
    if first in CONDITIONAL and "," in words:
        return MODAL.isdisjoint(words[words.index(",") :])
    # Can sizes were measured; a clause behind "and" may be a second question.
    finite = (place for place in _verbs(words, 2) if words[place] in BE | {"has", "had"})
    return first not in DO | MODAL or all(words[place - 1] in {"and", "or", ","} for place in finite)


def _asks_how(words: Sequence[str]) -> bool:
    """Check for "How does X …", "How much X does …", "How effective is X …"."""
    second = (*words, "")[1]
    if second in AUXILIARIES:
        return _has_subject_behind(words, 1)
    if second in DEGREE:
        return _asks_for_a_thing(words[1:])
    is_adverb = second in ADVERBS or _is_adverb(second)
    if not is_adverb and second in SUBJECTS | NO_SUBJECT:
        return False
    place = next(_verbs(words, 2), 0)
    if not 0 < place <= (LONGEST_DEGREE if is_adverb else 2) or not _has_subject_behind(words, place):
        return False
    return words[place + 1] in SUBJECTS or not _says_more(words, place + 2)


def _asks_behind_preposition(words: Sequence[str]) -> bool:
    """Check for "To what extent does X …"; "In which rice was grown" is part of a sentence."""
    place = next(_verbs(words, 1), 0)
    if not 0 < place <= MOST_BETWEEN or words[1] in SUBJECTS or not _has_subject_behind(words, place):
        return False
    return words[place] in DO or words[place + 1] in SUBJECTS or place == 1


def _asks_for_a_thing(words: Sequence[str]) -> bool:
    """Check for "What is the effect …", "Which plots emit …", "Who invented …", "much methane escapes"."""
    first, second = (*words, "", "")[:2]
    if not second or (second in SUBJECTS and first != "whose") or second in {"to", ",", "follows"}:
        return False
    place = next(_verbs(words, 1), 0)
    if place == 1:
        return _asks_directly(words)
    if 1 < place <= MOST_BETWEEN:
        return _asks_with_noun(words, place)
    return not (_says_more(words, 3) or (first == "which" and _resumes(words)))


def _asks_directly(words: Sequence[str]) -> bool:
    """Check for "What is the effect …"; "What is new is the …" and "Which is known …" are statements."""
    first, verb, third, fourth = (*words, "", "", "", "")[:4]
    if verb in DO:
        return _is_subject(verb, third, fourth)
    if third in SUBJECTS and verb in AUXILIARIES:
        return True
    if not third or third in NO_OBJECT or fourth == ",":
        return False
    return first != "which" and not _says_more(words, 3 if third in FILLERS else 2)


def _asks_with_noun(words: Sequence[str], place: int) -> bool:
    """Check for "Which plots were drained", "What yield did the plots have"."""
    first, between, verb, third = words[0], words[1:place], words[place], (*words, "")[place + 1]
    if verb not in AUXILIARIES:
        return len(between) == 1
    if first == "who" or not third or third in NO_OBJECT:
        return False
    if verb in DO or (verb in MODAL and third in SUBJECTS):
        return third not in NO_SUBJECT
    if first == "what" and (between[0].endswith("ed") or (PLURAL.fullmatch(between[0]) and verb in SINGULAR)):
        return False  # "What happened was …", "What remains is …"
    behind = words[place + 1 :]
    said = next((word for word in behind if word not in FILLERS and not _is_adverb(word)), "")
    return not (_is_clause(between, said) or _says_more(words, place + 2))


def _is_clause(words: Sequence[str], said: str) -> bool:
    """Check for "bacteria protect the gut", or three words with one of `REPORTED`: "unknown", "studied"."""
    pairs = pairwise(words)
    with_object = any(word in ARTICLES and before not in PREPOSITIONS for before, word in pairs)
    return with_object or (len(words) - 2 * words.count("of") >= LEAST_CLAUSE and said in REPORTED)


def _resumes(words: Sequence[str]) -> bool:
    third = (*words, "", "")[2] if words[1] != "of" else "of"
    return RESUMING.match(words[1]) is not None or third in {"", "the", "a", "an", "that", "why", "how"}


def _says_more(words: Sequence[str], start: int) -> bool:
    """Check whether another verb follows, or "remains" with a word of `REPORTED`."""
    reported = (place for place, word in enumerate(words) if word in REPORTED)
    remains = any(
        word.startswith("remain") for place in reported for word in words[max(place - 3, 0) : place]
    )
    return remains or any(True for _ in _verbs(words, start))


def _verbs(words: Sequence[str], start: int) -> Iterator[int]:
    """Yield the places of finite verbs from a place on, except the first one of each subordinate clause."""
    owed = 0
    for place, word in enumerate(words[1:], 1):
        if word in SUBORDINATE:
            owed += 1
        elif owed and word in MAIN_VERBS:
            owed -= 1
        elif word in MAIN_VERBS and place >= start and words[place - 1] not in NO_VERB_BEHIND:
            yield place


def _has_subject_behind(words: Sequence[str], place: int) -> bool:
    """Check whether there is an auxiliary at a place, and its subject behind it."""
    verb, second, third = (*words, "", "", "")[place : place + 3]
    return verb in AUXILIARIES and _is_subject(verb, second, third) and second not in REPORTED


def _is_subject(verb: str, word: str, behind: str) -> bool:
    """Check whether a word behind an auxiliary may be the first of its subject."""
    if not word or word in NO_SUBJECT or _is_adverb(word):
        return False
    if verb in BE | HAVE and (PARTICIPLE.fullmatch(word) or word in PARTICIPLES):
        return bool(behind) and behind not in BEHIND_VERB and not _is_adverb(behind)
    return True


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and word.islower() and word not in NOUNS_IN_LY
