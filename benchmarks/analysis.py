"""The analyzers against MeCab's bare lattice: what the rest of the chain costs.

The lattice is built and its best path found, and not a word of it is read.
"""

from collections.abc import Callable, Sequence
from statistics import median

import _mecab

from benchmarks.figures import Figure
from benchmarks.timing import seconds_of
from indexer.analysis import make_analyzer
from indexer.analysis.dictionary import open_tagger

BAR = 0.6
PART = "analysis"
ANALYZERS = ("bilingual", "korean")


def bare_lattice() -> Callable[[str], object]:
    """Return what parses a text with the analyzers' dictionary into a lattice that nobody reads."""
    tagger = open_tagger()
    lattice = _mecab.Lattice()
    lattice.add_request_type(_mecab.MECAB_ALLOCATE_SENTENCE)

    def parse(text: str) -> None:
        lattice.set_sentence(text)
        tagger.parse(lattice)

    return parse


def seconds_for(work: Callable[[str], object], texts: Sequence[str]) -> float:
    """Return how long `work` takes for all texts."""
    return seconds_of(lambda: [work(text) for text in texts])


def measure_analysis(texts: Sequence[str], rounds: int) -> list[Figure]:
    """Measure each analyzer from its first pass over the texts on, in turn with the bare lattice."""
    parse = bare_lattice()
    seconds_for(parse, texts)  # brings the dictionary into memory
    figures = []
    for name in ANALYZERS:
        analyzer = make_analyzer(name)
        pairs = [(seconds_for(parse, texts), seconds_for(analyzer.analyze, texts)) for _ in range(1 + rounds)]
        first, *warm = [bare / full for bare, full in pairs]
        figures += [
            Figure(PART, f"{name}", len(texts) / median(full for _, full in pairs[1:]), "passages/s"),
            Figure(PART, f"{name} by bare lattice, first pass", first, "×"),
            Figure(PART, f"{name} by bare lattice", median(warm), "×", BAR, higher_is_better=True),
        ]
    return figures
