"""The analyzers against MeCab's bare lattice: what the rest of the chain costs.

The lattice is built and its best path found, and not a word of it is read.
"""

import time
from collections.abc import Callable, Sequence

import _mecab

from eval.experiments.bench.figures import Figure, median
from indexer.analysis import make_analyzer
from indexer.analysis.dictionary import open_tagger

BAR = 0.6
PART = "analysis"
ANALYZERS = ("bilingual", "korean")


def raw_parser() -> Callable[[str], object]:
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
    started = time.perf_counter()
    for text in texts:
        work(text)
    return time.perf_counter() - started


def measure_analysis(texts: Sequence[str], rounds: int) -> list[Figure]:
    """Measure each analyzer from its first pass over the texts on, in turn with the bare lattice."""
    parse = raw_parser()
    seconds_for(parse, texts)  # brings the dictionary into memory
    figures = []
    bare: list[float] = []
    for name in ANALYZERS:
        analyzer = make_analyzer(name)
        pairs = [(seconds_for(parse, texts), seconds_for(analyzer.analyze, texts)) for _ in range(1 + rounds)]
        bare += [raw for raw, _ in pairs]
        (first_raw, first), warm = pairs[0], pairs[1:]
        rate = len(texts) / median([full for _, full in warm])
        figures += [
            Figure(PART, f"{name}", rate, "passages/s"),
            Figure(PART, f"{name} by bare lattice, first pass", first_raw / first, "×"),
            Figure(
                PART,
                f"{name} by bare lattice",
                median([raw / full for raw, full in warm]),
                "×",
                BAR,
                higher_is_better=True,
            ),
        ]
    return [Figure(PART, "bare lattice", len(texts) / median(bare), "passages/s"), *figures]
