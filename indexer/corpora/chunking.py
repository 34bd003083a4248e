"""Splitting of papers into passages, the unit of indexing and ranking.

Long texts are split into chunks of at most 500 characters in whole sentences. Each repeats up to 120
characters of the previous one (paper-qa's preprocessing, section 1.II).
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import regex

from base.patterns import lazy_regex
from indexer.corpora.papers import INDEXED_CHARACTERS, Language, Paper, Unit, language_of

Part: TypeAlias = Literal["abstract", "abstract2", "body", "passage"]

CHUNK_CHARACTERS = 500
OVERLAP_CHARACTERS = 120
WHOLE_ABSTRACT_CHARACTERS = 4_000
CHUNK_TITLE_CHARACTERS = 1_000  # limit of the title, which each chunk repeats

# Sentence ends: stops with closing quotes, brackets and footnote marks, or a blank line.
STOP = lazy_regex(
    r"""(?P<stop>[.?!…。｡！？]+)(?P<close>["'”’»)\]〉》」』】]{0,8})(?P<notes>(?:\[[^\[\]\n]{1,20}\]){0,8})(?P<gap>\s*)"""
    r"|(?P<blank>\n[^\S\n]*\n)"
)
ABBREVIATIONS = frozenset(
    "al approx ca cf dept dr e.g ed eds eq eqn eqs fig figs i.e mr mrs ms ph.d prof ref refs resp sec sect st"
    " tab viz vol vs jan feb apr aug sept oct nov dec".split()
)
ABBREVIATIONS_BEFORE_NUMBERS = frozenset("art ch mar no nos p para pp".split())
INITIALS = lazy_regex(r"(?:[A-Z]\.-?)*[A-Z]")
ENUMERATOR = lazy_regex(r"[(\[]?(?:\d{1,3}(?:\.\d{1,3})*|[IVXivx]{1,5}|[A-Za-z가나다라마바사아자차카타파하])")
NEXT_PART_OF_DATE = lazy_regex(r"\d{1,2}\s*\.")
WHOLE_DATE = lazy_regex(r"(?:.*\D)?\d{4}\s*\.\s*\d{1,2}\s*\.\s*\d{1,2}", re.DOTALL)
# A sentence may start with mRNA or p53, but not with any other lower-case word.
LOWERCASE_WORD = lazy_regex(r"[a-z](?![a-z]?[A-Z0-9])")
# 있었다.또한: a Korean verb ending, and a word without a space after the stop.
VERB_ENDING = lazy_regex("[가-힣][다요까죠]")
WORD_BEGINS = lazy_regex("[가-힣A-Z“‘\"'(]")
QUOTED_BY = ("라고", "라는", "라며", "라면서", "이라고", "이라는", "하고", "고 ")
WORD_CHARACTER = lazy_regex(r"[^\W_]")
BACK_TO_WORD = 24

WORD = lazy_regex(r"\S+")
NO_SPACE, SPACE = lazy_regex(r"\S"), lazy_regex(r"\s")
# Search limit for the start of an indivisible character sequence.
SEQUENCE_CHARACTERS = 64
GRAPHEME = regex.compile(r"\X")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage; `part` is its source text in the paper, `lang` the language."""

    passage_id: str
    doc_id: str
    title: str
    text: str
    lang: Language
    part: Part


def passages_of(paper: Paper, unit: Unit) -> list[Passage]:
    """Make the passages of a record bounded by `cut_text`.

    A record that is a passage is not split. A paper has a passage with title and abstract under its own id,
    one in the other language under ID@en or ID@ko, and ID#1, ID#2 … for the rest of a long abstract, the
    body, and the rest of a long abstract in the other language. These repeat the beginning of the title.
    """
    if unit == "passage":
        doc_id = paper.id.partition("#")[0] or paper.id
        return [Passage(paper.id, doc_id, paper.title, paper.abstract, paper.lang, "passage")]
    first, *more = _abstract_chunks(paper.abstract)
    first_other, *more_other = _abstract_chunks(paper.abstract2)
    other = _other_language(paper)
    body_lang = paper.lang if (found := language_of(paper.body)) == "other" else found
    numbered: list[tuple[str, str, Language, Part]] = [
        *((paper.title, text, paper.lang, "abstract") for text in more),
        *((paper.title, text, body_lang, "body") for text in _body_chunks(paper.body)),
        *((paper.title2 or paper.title, text, other, "abstract2") for text in more_other),
    ]
    passages = [Passage(paper.id, paper.id, paper.title, first, paper.lang, "abstract")]
    if paper.title2 or paper.abstract2:
        passages.append(
            Passage(f"{paper.id}@{other}", paper.id, paper.title2, first_other, other, "abstract2")
        )
    for number, (title, text, lang, part) in enumerate(numbered, 1):
        begun = title[: _sequence_start(title, CHUNK_TITLE_CHARACTERS)]
        passages.append(Passage(f"{paper.id}#{number}", paper.id, begun, text, lang, part))
    return passages


def chunk_text(text: str) -> list[str]:
    """Split a text into chunks, none of them blank; they start with a word or the sign of a number."""
    return [text[start:end] for start, end in chunk_spans(text)]


def chunk_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the chunks of `chunk_text`, ordered by start and end."""
    spans = ((_first_word(text, start, end), end) for start, end in _overlapping_spans(text))
    return [(start, end) for start, end in spans if start < end]


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a Korean or English text, without surrounding white space.

    They cover all non-blank text, in order. A blank line ends a sentence, a single line feed does not.
    Punctuation without a word belongs to the following sentence, at the end of the text to the previous one.
    """
    spans: list[tuple[int, int]] = []
    begin = seen = _next_word(text, 0)
    has_word = False
    for found in STOP.finditer(text):
        has_word = has_word or WORD_CHARACTER.search(text, seen, found.start()) is not None
        seen = max(seen, found.end())
        if has_word and _ends_sentence(text, begin, found):
            end = found.start("gap") if found["stop"] else found.start()
            spans.append((begin, begin + len(text[begin:end].rstrip())))
            begin = seen = _next_word(text, found.end())
            has_word = False
    if begin < len(text):
        end = begin + len(text[begin:].rstrip())
        if spans and not (has_word or WORD_CHARACTER.search(text, seen)):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((begin, end))
    return spans


def _ends_sentence(text: str, begin: int, found: re.Match[str]) -> bool:
    """Check whether a stop ends the sentence that starts at `begin`."""
    stop, close, gap, after = found["stop"], found["close"], found["gap"], found.end()
    if not stop or after == len(text) or gap.count("\n") > 1:
        return True
    if not gap:
        return _ends_without_space(text, found)
    if LOWERCASE_WORD.match(text, after) or (close and text.startswith(QUOTED_BY, after)):
        return False
    return stop != "." or bool(close) or not _is_abbreviated(text, begin, found.start(), after)


def _ends_without_space(text: str, found: re.Match[str]) -> bool:
    if found["close"]:
        return False
    if found["stop"][-1] in "。｡！？":
        return True
    before = text[max(found.start() - 2, 0) : found.start()]
    begins = WORD_BEGINS.match(text, found.end()) is not None
    return begins and (
        VERB_ENDING.fullmatch(before) is not None or (bool(found["notes"]) and before.isalpha())
    )


def _is_abbreviated(text: str, begin: int, stop: int, after: int) -> bool:
    """Check whether the full stop at `stop` belongs to an abbreviation; the next word is at `after`."""
    before = text[max(begin, stop - BACK_TO_WORD) : stop].split()
    if not before or text[stop - 1].isspace():
        return False
    word = before[-1].lstrip("([{\"'“‘")
    if word.lower() in ABBREVIATIONS or INITIALS.fullmatch(word):
        return True
    if word.lower() in ABBREVIATIONS_BEFORE_NUMBERS:
        return text[after].isdecimal() or text[after] == "("
    if word.isdecimal() and (
        NEXT_PART_OF_DATE.match(text, after)
        or WHOLE_DATE.fullmatch(text, max(begin, stop - BACK_TO_WORD), stop)
    ):
        return True
    return ENUMERATOR.fullmatch(text, begin, stop) is not None


def cut_text(text: str) -> tuple[str, bool]:
    """Truncate a text to 1,000,000 characters; return it and whether it was truncated."""
    if len(text) <= INDEXED_CHARACTERS:
        return text, False
    return text[: _sequence_start(text, INDEXED_CHARACTERS)], True


def _abstract_chunks(abstract: str) -> list[str]:
    if len(abstract) <= WHOLE_ABSTRACT_CHARACTERS:
        return [abstract]
    return chunk_text(abstract) or [""]


def _body_chunks(body: str) -> Iterator[str]:
    from indexer.corpora.cleaning import clean_body, split_sections

    for section in split_sections(clean_body(body)):
        if section.text:
            yield from chunk_text(f"{section.heading}\n\n{section.text}")


def _other_language(paper: Paper) -> Literal["ko", "en"]:
    if paper.lang == "other":
        return "ko" if language_of(f"{paper.title2} {paper.abstract2}") == "ko" else "en"
    return "en" if paper.lang == "ko" else "ko"


def _overlapping_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of chunks; each starts with the last sentences of the previous one that are short."""
    parts = list(_sentence_parts(text))
    first = last = 0  # of a chunk; `last` is the end, and the first part that is not in the previous chunk
    while last < len(parts):
        start, new = parts[first][0], last
        while last < len(parts) and parts[last][1] - start <= CHUNK_CHARACTERS:
            last += 1
        end = parts[last - 1][1]
        yield start, end
        next_end = parts[last][1] if last < len(parts) else 0
        repeated = (
            place
            for place in range(new, last)
            if end - parts[place][0] <= OVERLAP_CHARACTERS and next_end - parts[place][0] <= CHUNK_CHARACTERS
        )
        first = next(repeated, last)


def _sentence_parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences; of one longer than a chunk, those of short parts in whole words."""
    for begin, end in split_sentences(text):
        start, most = begin, CHUNK_CHARACTERS if end - begin <= CHUNK_CHARACTERS else OVERLAP_CHARACTERS
        while end - start > most:
            limit = start + OVERLAP_CHARACTERS
            words = [word.end() for word in WORD.finditer(text, start, limit + 1) if word.end() <= limit]
            longest = min(end, start + CHUNK_CHARACTERS + 1)
            space = SPACE.search(text, start, longest)
            cut = words[-1] if words else space.start() if space else longest
            if cut - start > CHUNK_CHARACTERS:
                cut = max(_sequence_start(text, start + CHUNK_CHARACTERS), start + 1)
            yield start, cut
            start = _next_word(text, cut)
        if start < end:
            yield start, end


def _next_word(text: str, position: int) -> int:
    found = NO_SPACE.search(text, position)
    return found.start() if found else len(text)


def _first_word(text: str, start: int, end: int) -> int:
    """Return the start of the first word of text[start:end], or of the sign of a number."""
    for place in range(start, end):
        is_sign = text[place] in "-–." and text[place + 1 : min(place + 2, end)].isdecimal()
        if is_sign or not (text[place].isspace() or unicodedata.category(text[place]).startswith("P")):
            return place
    return end


def _sequence_start(text: str, position: int) -> int:
    """Return the last place up to `position` that separates no letter from marks and no Hangul syllable."""
    earliest = max(position - SEQUENCE_CHARACTERS, 0)
    ends = (found.end() for found in GRAPHEME.finditer(text, earliest, position + 1))
    return max((end for end in ends if end <= position), default=position)
