"""The title of an answer without a model: the question's most important words, as it writes them."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from indexer.analysis.tokens import Analyzer, TaggedWord
from indexer.papers import HANGUL, Language
from retriever.keywords import Keyword

WORDS = 3
ON = {"ko": "{words}에 관한 문헌의 서술", "en": "What the passages say on {words}"}
ON_NOTHING = {"ko": "찾은 문헌의 서술", "en": "What the passages say"}
# Parts of speech of the Sejong tag set: nouns, Latin, Chinese characters, numbers, roots, a noun's suffix.
NOUNS = frozenset({"NNG", "NNP", "SL", "SH", "SN", "XR", "XSN"})
SUFFIX = "XSN"


def title_on(question: str, keywords: Sequence[Keyword], language: Language, analyzer: Analyzer) -> str:
    """Name the first three keywords of the question's language, or of the other where it has none.

    Korean ones are named if they are nouns: the stem of a verb (떨어지, 줄이) is no word. Words whose part of
    speech the index's analyzer does not tell are named too, English verbs among them.
    """
    question = unicodedata.normalize("NFC", question)
    tagged = analyzer.tagged_words(question)
    own = [keyword.text for keyword in keywords if keyword.language in {language, "other"}]
    named = _nouns(question, tagged, own) or _nouns(question, tagged, [keyword.text for keyword in keywords])
    key = "ko" if language == "ko" else "en"
    return ON[key].format(words=", ".join(named[:WORDS])) if named else ON_NOTHING[key]


def _nouns(question: str, tagged: Sequence[TaggedWord], texts: Iterable[str]) -> list[str]:
    """Leave out Korean words that are no nouns in the question; words it does not hold count as nouns."""
    found = (_noun(question, tagged, text) if tagged and HANGUL.search(text) else text for text in texts)
    return list(dict.fromkeys(text for text in found if text))


def _noun(question: str, tagged: Sequence[TaggedWord], text: str) -> str:
    """Return `text` with its suffix in the question (회복탄력 → 회복탄력성), nothing where it is no noun."""
    starts = {start: (tag, end) for tag, start, end in tagged}
    ends = [end for _, _, end in tagged]
    places = [match.start() for match in re.finditer(re.escape(text), question)]
    found = []
    for start in places:
        order = bisect_left(ends, start + len(text))
        if start in starts and order < len(ends) and tagged[order][0] in NOUNS:
            tag, end = starts.get(ends[order], ("", 0))
            found.append(question[start : end if tag == SUFFIX else ends[order]])
    # The shortest is the word itself; a longer one only begins like it (손 in 손실).
    return min(found, key=len, default="") if places else text
