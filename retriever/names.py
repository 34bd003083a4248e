"""The names in a text: tokens that stand together and name somebody or something."""

import re
from collections.abc import Sequence

from indexer.analysis.tokens import TaggedToken, Token
from indexer.papers import HANGUL
from retriever.question_words import role_of

PROPER_NOUN = "NNP"
SENTENCE_END = ".?!…"
WITHIN_A_NAME = re.compile(r"[\s.'’·&-]*")  # what may stand between two words of a name
# A sentence ends behind a word, not behind an initial or a title: J. Kim, St. Louis, Gen. Lee.
SENTENCE_ENDS = re.compile(r"(?:\w{3,}|[가-힣])\.\s")
TITLES = frozenset("capt col gen gov hon lieut maj mrs prof rev sen sgt univ".split())
CONTROL_SEQUENCE = re.compile(r"\x1b\[[\d;]*[A-Za-z]")  # of a terminal: its last letter is no word's

LONGEST_TITLE, LONGEST_READ = 1_000, 5_000  # characters of a passage that are read for names


def text_with_names(title: str, text: str) -> str:
    """Return what is read of a passage for names: its title as a sentence, and the beginning of its text."""
    return f"{_beginning(title, LONGEST_TITLE)}. {_beginning(text, LONGEST_READ)}"


def _beginning(text: str, most: int) -> str:
    """Return the first characters of a text, up to a whole word."""
    return text if len(text) <= most else text[:most].rpartition(" ")[0]


def names_in(text: str, tagged: Sequence[TaggedToken]) -> dict[tuple[str, ...], str]:
    """Return the names in `text`: the tokens of each in their order, and how it is written first.

    Korean ones are proper nouns to the tagger, among them words that it does not know; Latin ones have a
    capital letter. That counts neither where all words begin with one, nor at the start of an English
    sentence, unless another such word follows or the capital stands within. Words that ask or request (may,
    find) are part of a longer name where they have a capital letter within a sentence: May Lee, Find Me.
    """
    capitals_tell = _capitals_tell(text)
    korean = HANGUL.search(text) is not None
    controls = {match.end() - 1 for match in CONTROL_SEQUENCE.finditer(text)}
    names: list[list[int]] = []
    for place, (token, tag) in enumerate(tagged):
        word = text[token[2] : token[3]]
        if controls and not controls.isdisjoint(range(token[2], token[3])):
            continue
        if tag != PROPER_NOUN and not (capitals_tell and any(map(str.isupper, word))):
            continue
        if role_of(token[0], tag) != "noun" and not (capitals_tell and _is_written_as_name(text, token)):
            continue
        if names and names[-1][-1] == place - 1 and _joined(text, tagged[place - 1], tagged[place]):
            names[-1].append(place)
        else:
            names.append([place])
    found: dict[tuple[str, ...], str] = {}
    for places in names:
        if len(places) > 1 or _is_name(text, tagged[places[0]], korean=korean):
            first, last = tagged[places[0]][0], tagged[places[-1]][0]
            found.setdefault(tuple(tagged[place][0][0] for place in places), text[first[2] : last[3]])
    return found


def _capitals_tell(text: str) -> bool:
    """Tell whether some word behind the first begins with a small letter; Hangul counts as such."""
    return any(word[0].isalpha() and not word[0].isupper() for word in text.split()[1:] or text.split())


def _joined(text: str, one: TaggedToken, other: TaggedToken) -> bool:
    (_, position, begin, end), (_, following, start, _) = one[0], other[0]
    if following > position + 1 or not WITHIN_A_NAME.fullmatch(text[end:start]):
        return False
    return text[begin:end].lower() in TITLES or not SENTENCE_ENDS.match(text, begin, start)


def _is_name(text: str, only: TaggedToken, *, korean: bool) -> bool:
    """Tell whether a token that stands alone is a name."""
    (token, _, start, end), tag = only
    if role_of(token, tag) != "noun":
        return False
    word = text[start:end]
    if tag == PROPER_NOUN:
        return len(word) > 1
    return korean or not _begins_sentence(text, start) or any(map(str.isupper, word[1:]))


def _is_written_as_name(text: str, token: Token) -> bool:
    """Tell whether a word that is no name by itself may be part of one here."""
    _, _, start, end = token
    return end - start > 1 and any(map(str.isupper, text[start:end])) and not _begins_sentence(text, start)


def _begins_sentence(text: str, start: int) -> bool:
    """Tell whether no word stands between `start` and the end of a sentence, or nothing at all before it."""
    place = start
    while place and not (text[place - 1].isalnum() or text[place - 1] == "_"):
        place -= 1
        if text[place] in SENTENCE_END:
            return True
    return not text[:start].strip()
