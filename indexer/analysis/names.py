"""Named entities in a text: adjacent tokens that name a person, place, organisation or work.

Korean names are the tagger's proper nouns, which include unknown words. Latin names start with a capital
letter. Capitals are ignored if every word has one, and at the start of an English sentence unless another
capitalised word follows or the word has an inner capital. Question and request words (may, find) are part of
a longer name if they are capitalised within a sentence: May Lee, Find Me.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from base.letters import HANGUL
from indexer.analysis.tokens import TaggedToken, Token
from indexer.analysis.word_roles import role_of

PROPER_NOUN = "NNP"
SENTENCE_END = ".?!…"
WITHIN_A_NAME = re.compile(r"[\s.'’·&-]*")  # characters between two words of a name
# A sentence ends after a word, not after an initial or a title: J. Kim, St. Louis, Gen. Lee.
SENTENCE_ENDS = re.compile(r"(?:\w{3,}|[가-힣])\.\s")
TITLES = frozenset("capt col gen gov hon lieut maj mrs prof rev sen sgt univ".split())

LONGEST_READ = 5_000  # characters of a passage searched for names


class Name(NamedTuple):
    """A name: the index of its first token, and the number of its tokens."""

    first: int
    length: int


def find_names(text: str, tagged: Sequence[TaggedToken], *, title_end: int = 0) -> list[Name]:
    """Return the names in a text, in order.

    Args:
        text: the analysed text.
        tagged: its tokens with their parts of speech, in order of position.
        title_end: the end of the title, which is a separate sentence; 0 without a title.
    """
    capitals_matter = _has_lowercase_word(text)
    korean = HANGUL.search(text) is not None
    runs: list[list[int]] = []
    for place, (token, tag) in enumerate(tagged):
        word = text[token[2] : token[3]]
        if tag != PROPER_NOUN and not (capitals_matter and any(map(str.isupper, word))):
            continue
        if role_of(token[0], tag) != "noun" and not (
            capitals_matter and _is_written_as_name(text, token, title_end)
        ):
            continue
        if runs and runs[-1][-1] == place - 1 and _joined(text, tagged[place - 1], tagged[place], title_end):
            runs[-1].append(place)
        else:
            runs.append([place])
    return [
        Name(places[0], len(places))
        for places in runs
        if len(places) > 1 or _is_name(text, tagged[places[0]], title_end, korean=korean)
    ]


def names_in(text: str, tagged: Sequence[TaggedToken], *, title_end: int = 0) -> dict[tuple[str, ...], str]:
    """Return the names of `find_names`: the tokens of each, and its first spelling."""
    found: dict[tuple[str, ...], str] = {}
    for first, length in find_names(text, tagged, title_end=title_end):
        tokens = [token for token, _ in tagged[first : first + length]]
        found.setdefault(tuple(token[0] for token in tokens), text[tokens[0][2] : tokens[-1][3]])
    return found


def _has_lowercase_word(text: str) -> bool:
    """Check whether a word after the first starts with a small letter; Hangul counts as small."""
    return any(word[0].isalpha() and not word[0].isupper() for word in text.split()[1:] or text.split())


def _joined(text: str, one: TaggedToken, other: TaggedToken, title_end: int) -> bool:
    (_, position, begin, end), (_, following, start, _) = one[0], other[0]
    if following > position + 1 or end <= title_end < start or not WITHIN_A_NAME.fullmatch(text[end:start]):
        return False
    return text[begin:end].lower() in TITLES or not SENTENCE_ENDS.match(text, begin, start)


def _is_name(text: str, only: TaggedToken, title_end: int, *, korean: bool) -> bool:
    """Check whether a single token is a name."""
    (token, _, start, end), tag = only
    if role_of(token, tag) != "noun":
        return False
    word = text[start:end]
    if tag == PROPER_NOUN:
        return len(word) > 1
    return korean or not _begins_sentence(text, start, title_end) or any(map(str.isupper, word[1:]))


def _is_written_as_name(text: str, token: Token, title_end: int) -> bool:
    """Check whether a question or request word is part of a name here."""
    _, _, start, end = token
    return (
        end - start > 1
        and any(map(str.isupper, text[start:end]))
        and not _begins_sentence(text, start, title_end)
    )


def _begins_sentence(text: str, start: int, title_end: int) -> bool:
    """Check whether no word is between `start` and the end of the previous sentence or title."""
    limit = title_end if start > title_end else 0
    place = start
    while place > limit and not (text[place - 1].isalnum() or text[place - 1] == "_"):
        place -= 1
        if text[place] in SENTENCE_END:
            return True
    return 0 < limit == place or not text[:start].strip()
