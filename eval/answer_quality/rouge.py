"""ROUGE-L of an answer and reference texts, in English and Korean.

The score is the F1 of precision and recall of the longest common subsequence of tokens (C.-Y. Lin, ROUGE: a
package for automatic evaluation of summaries, 2004, section 3.1, with β = 1). For English texts it equals
`rougeL` of the library rouge-score 0.1.2. That library keeps only the letters a to z and digits, so that a
Korean text has few tokens or none. If one of two texts is Korean, the tokens of both are therefore those of
the analyzer `korean`: morphemes without particles, endings and punctuation, and English words in lower case.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from threading import Lock

from rapidfuzz.distance import LCSseq

from indexer.analysis import Analyzer, make_analyzer
from indexer.analysis.porter import porter_stem
from indexer.corpora.papers import language_of

NO_TOKEN = re.compile(r"[^a-z0-9]+")
STEMMED = 3  # longer words are stemmed, as in rouge-score
ANALYZING = Lock()  # an analyzer serves one thread at a time


def rouge_l(answer: str, references: Iterable[str], *, stem: bool = False) -> float:
    """Return the highest ROUGE-L F1 of an answer and a reference, 0 to 1; 0 without references.

    `stem` stems English words of more than three letters by Porter's stemmer; that of rouge-score is another
    variant, which differs in a few words, such as *dying*.
    """
    scores = [0.0]
    for reference in references:
        korean = "ko" in (language_of(answer), language_of(reference))
        written, expected = (
            korean_tokens(text) if korean else english_tokens(text, stem=stem) for text in (answer, reference)
        )
        common = LCSseq.similarity(written, expected)
        scores.append(2 * common / (len(written) + len(expected)) if common else 0.0)
    return max(scores)


def english_tokens(text: str, *, stem: bool = False) -> list[str]:
    """Return the tokens of rouge-score: words of a to z and 0 to 9, lowercase."""
    words = [word for word in NO_TOKEN.split(text.lower()) if word]
    return [porter_stem(word) if len(word) > STEMMED else word for word in words] if stem else words


def korean_tokens(text: str) -> list[str]:
    """Return the terms of the analyzer `korean` with compounds split, as an index has them."""
    with ANALYZING:
        return [token[0] for token in _analyzer().analyze(unicodedata.normalize("NFC", text))]


@cache
def _analyzer() -> Analyzer:
    return make_analyzer("korean")
