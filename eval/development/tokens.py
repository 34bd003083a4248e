"""Agreement of the analyzers with a real Elasticsearch: the table of tokens.

    python -m eval.development.tokens [--golden DIR] [--list] [--json]

Compares each analyzer with tokens recorded for the same texts. F1 is micro-averaged over the tokens in order
(longest matching blocks); offsets, positions and position increments (the gap to the previous token, as
Lucene stores positions) are compared over the matching tokens.
"""

import gzip
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import click

from base.amounts import counted
from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines
from indexer.analysis import Analyzer, Decompound, Token, make_analyzer
from indexer.options import json_option

GOLDEN = Path("../shared/golden")
FILE = re.compile(r"analysis-(?P<analyzer>[a-z]+)(?:-(?P<decompound>[a-z]+))?\.jsonl\.gz")
CONTEXT = 20  # characters shown on each side of a difference


@dataclass(frozen=True, slots=True)
class Difference:
    """A stretch of a text whose tokens differ; each side as "token@start-end+increment"."""

    source: str
    context: str
    recorded: tuple[str, ...]
    ours: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.source}: {self.context}\n    recorded {' '.join(self.recorded) or '–'}\n    here     "
            + (" ".join(self.ours) or "–")
        )


@dataclass(slots=True)
class Agreement:
    """Counts over texts: recorded tokens, our tokens, matching ones, and equal attributes of these."""

    name: str
    texts: int = 0
    recorded: int = 0
    ours: int = 0
    matching: int = 0
    same_offsets: int = 0
    same_positions: int = 0
    same_increments: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def f1(self) -> float:
        """Twice the matching tokens divided by the tokens of both sides."""
        both = self.recorded + self.ours
        return 2 * self.matching / both if both else 1.0

    def share(self, alike: int) -> float:
        """Return a count as a share of the matching tokens."""
        return alike / self.matching if self.matching else 1.0

    def as_record(self) -> dict[str, Any]:
        """Return the row of the table."""
        return {
            "analyzer": self.name,
            "texts": self.texts,
            "recorded": self.recorded,
            "ours": self.ours,
            "f1": self.f1,
            "offsets": self.share(self.same_offsets),
            "positions": self.share(self.same_positions),
            "increments": self.share(self.same_increments),
        }

    def add(self, source: str, text: str, recorded: Sequence[Token], ours: Sequence[Token]) -> None:
        """Count one text's tokens."""
        self.texts += 1
        self.recorded += len(recorded)
        self.ours += len(ours)
        theirs_gaps, our_gaps = increments(recorded), increments(ours)
        matcher = SequenceMatcher(
            None, [token[0] for token in recorded], [token[0] for token in ours], autojunk=False
        )
        for kind, i1, i2, j1, j2 in matcher.get_opcodes():
            if kind != "equal":
                self._note_difference(
                    source, text, _marked(recorded, theirs_gaps, i1, i2), _marked(ours, our_gaps, j1, j2)
                )
                continue
            self.matching += i2 - i1
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                same_offsets = recorded[i][2:] == ours[j][2:]
                same_increment = theirs_gaps[i] == our_gaps[j]
                self.same_offsets += same_offsets
                self.same_positions += recorded[i][1] == ours[j][1]
                self.same_increments += same_increment
                if not (same_offsets and same_increment):
                    theirs, here = _marked(recorded, theirs_gaps, i, i + 1), _marked(ours, our_gaps, j, j + 1)
                    self._note_difference(source, text, theirs, here)

    def _note_difference(
        self, source: str, text: str, recorded: list["_Marked"], ours: list["_Marked"]
    ) -> None:
        start = min(token.start for token in (*recorded, *ours))
        end = max(token.end for token in (*recorded, *ours))
        before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
        context = f"{before}⟦{text[start:end]}⟧{after}".replace("\n", " ")
        sides = (tuple(token.shown for token in side) for side in (recorded, ours))
        self.differences.append(Difference(source, context, *sides))


@dataclass(frozen=True, slots=True)
class _Marked:
    shown: str
    start: int
    end: int


def increments(tokens: Sequence[Token]) -> list[int]:
    """Return each token's gap to the previous one; the first one's is relative to −1."""
    positions = [-1, *(token[1] for token in tokens)]
    return [here - before for before, here in pairwise(positions)]


def _marked(tokens: Sequence[Token], gaps: Sequence[int], first: int, behind: int) -> list[_Marked]:
    return [
        _Marked(f"{term}@{start}-{end}+{gaps[place]}", start, end)
        for place, (term, _, start, end) in enumerate(tokens[first:behind], first)
    ]


def compare_with_recorded(path: Path) -> Agreement:
    """Compare the analyzer in the file's name with the tokens in the file."""
    named = FILE.fullmatch(path.name)
    if not named:
        raise ValueError(f"{path.name} does not name its analyzer: analysis-ANALYZER[-DECOMPOUND].jsonl.gz")
    decompound = cast(Decompound, named["decompound"] or "discard")
    analyzer = make_analyzer(named["analyzer"], decompound)
    name = named["analyzer"] + (f"-{named['decompound']}" if named["decompound"] else "")
    return compare_texts(name, analyzer, _records(path))


def compare_texts(name: str, analyzer: Analyzer, records: Iterable[dict[str, Any]]) -> Agreement:
    """Compare an analyzer with records of {"source", "text", "tokens"}."""
    agreement = Agreement(name)
    for record in records:
        recorded: list[Token] = [tuple(token) for token in record["tokens"]]
        agreement.add(record["source"], record["text"], recorded, analyzer.analyze(record["text"]))
    return agreement


def recorded_files(folder: Path) -> list[Path]:
    """Return the files of recorded tokens, by name."""
    return sorted(path for path in folder.glob("analysis-*.jsonl.gz") if FILE.fullmatch(path.name))


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _show(agreements: Sequence[Agreement]) -> None:
    rows = []
    for agreement in agreements:
        same = (agreement.same_offsets, agreement.same_positions, agreement.same_increments)
        counts = [f"{count:,}" for count in (agreement.texts, agreement.recorded, agreement.ours)]
        shares = [f"{share:.4f}" for share in (agreement.f1, *map(agreement.share, same))]
        rows.append((agreement.name, *counts, *shares))
    header = ("analyzer", "texts", "recorded", "here", "F1", "offsets", "positions", "increments")
    echo_lines(table([header, *rows], words=1))


@click.command()
@click.option(
    "--golden",
    type=click.Path(path_type=Path),
    default=GOLDEN,
    show_default=True,
    help="The folder of recorded tokens, analysis-ANALYZER[-DECOMPOUND].jsonl.gz.",
)
@click.option("--list", "listed", is_flag=True, help="Also print every difference in its context.")
@json_option
def main(golden: Path, listed: bool, as_json: bool) -> None:
    """Compare the analyzers with the tokens of a real Elasticsearch for the same texts."""
    files = recorded_files(golden)
    if not files:
        echo(
            f"no recorded tokens (analysis-*.jsonl.gz) in {golden}; set their folder: --golden DIR", err=True
        )
        sys.exit(2)
    agreements = [compare_with_recorded(path) for path in files]
    if as_json:
        rows = [agreement.as_record() for agreement in agreements]
        if listed:
            for row, agreement in zip(rows, agreements, strict=True):
                row["differences"] = [asdict(difference) for difference in agreement.differences]
        echo_json({"analyzers": rows})
        return
    if listed:
        for agreement in agreements:
            echo(f"# {agreement.name}: {counted(len(agreement.differences), 'difference')}")
            for difference in agreement.differences:
                echo(str(difference))
    _show(agreements)


if __name__ == "__main__":
    main()
