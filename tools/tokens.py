"""Agreement of the analyzers with a real Elasticsearch: the table of tokens.

    python -m tools.tokens [--golden DIR] [--list] [--json]

Compares each analyzer with tokens recorded for the same texts. F1 is micro-averaged over the tokens in order
(longest matching blocks); offsets, positions and position increments (the gap to the previous token, as
Lucene stores positions) are compared over the matching tokens. Texts that our normal
form changes are left out.
"""

import gzip
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import click

from base.amounts import counted
from base.terminal.output import echo, echo_json
from indexer.analysis import Analyzer, Decompound, Token, make_analyzer
from indexer.analysis.normal_form import normal_form
from indexer.options import json_option
from tools.bench import Row, echo_rows

GOLDEN = Path("../shared/golden")
FILE = re.compile(r"analysis-(?P<analyzer>[a-z]+)(?:-(?P<decompound>[a-z]+))?\.jsonl\.gz")
CONTEXT = 20  # characters shown on each side of a difference


@dataclass(slots=True)
class Agreement:
    """Counts over texts: recorded tokens, our tokens, matching ones, and equal attributes of these."""

    name: str
    texts: int = 0
    recorded: int = 0
    ours: int = 0
    matching: int = 0
    offsets: int = 0
    positions: int = 0
    increments: int = 0
    differences: list[str] = field(default_factory=list)

    def row(self) -> Row:
        """Return the row of the table; the attributes are shares of the matching tokens."""
        both = self.recorded + self.ours
        return {
            "analyzer": self.name,
            "texts": self.texts,
            "recorded": self.recorded,
            "ours": self.ours,
            "f1": 2 * self.matching / both if both else 1.0,
            **{
                name: getattr(self, name) / self.matching if self.matching else 1.0
                for name in ("offsets", "positions", "increments")
            },
        }

    def add(self, source: str, text: str, recorded: Sequence[Token], ours: Sequence[Token]) -> None:
        """Count one text's tokens."""
        self.texts += 1
        self.recorded += len(recorded)
        self.ours += len(ours)
        gaps, our_gaps = increments(recorded), increments(ours)
        terms = ([token[0] for token in recorded], [token[0] for token in ours])
        for kind, i1, i2, j1, j2 in SequenceMatcher(None, *terms, autojunk=False).get_opcodes():
            if kind != "equal":
                self._note(source, text, recorded[i1:i2], ours[j1:j2])
                continue
            self.matching += i2 - i1
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                same = recorded[i][2:] == ours[j][2:], gaps[i] == our_gaps[j]
                self.offsets += same[0]
                self.increments += same[1]
                self.positions += recorded[i][1] == ours[j][1]
                if not all(same):
                    self._note(source, text, [recorded[i]], [ours[j]])

    def _note(self, source: str, text: str, recorded: Sequence[Token], ours: Sequence[Token]) -> None:
        """Describe a difference in its context; each side as "token@start-end:position"."""
        start = min(token[2] for token in (*recorded, *ours))
        end = max(token[3] for token in (*recorded, *ours))
        context = f"{text[max(0, start - CONTEXT) : start]}⟦{text[start:end]}⟧{text[end : end + CONTEXT]}"
        recorded_as, ours_as = (
            " ".join(f"{term}@{first}-{last}:{position}" for term, position, first, last in side) or "–"
            for side in (recorded, ours)
        )
        shown = context.replace("\n", " ")
        self.differences.append(f"{source}: {shown}\n    recorded {recorded_as}\n    here     {ours_as}")


def increments(tokens: Sequence[Token]) -> list[int]:
    """Return each token's gap to the previous one; the first one's is relative to −1."""
    return [here - before for before, here in pairwise([-1, *(token[1] for token in tokens)])]


def compare_with_recorded(path: Path) -> Agreement:
    """Compare the analyzer in the file's name, analysis-ANALYZER[-DECOMPOUND].jsonl.gz, with the file."""
    named = FILE.fullmatch(path.name)
    assert named  # noqa: S101 - as the files of `main`
    analyzer = make_analyzer(named["analyzer"], cast(Decompound, named["decompound"] or "discard"))
    name = "-".join(filter(None, named.groups()))
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return compare_texts(name, analyzer, map(json.loads, lines))


def compare_texts(name: str, analyzer: Analyzer, records: Iterable[dict[str, Any]]) -> Agreement:
    """Compare an analyzer with records of {"source", "text", "tokens"}."""
    agreement = Agreement(name)
    for record in records:
        if normal_form(record["text"], hanja=True).text != record["text"]:
            continue  # Elasticsearch has no such normal form
        recorded: list[Token] = [tuple(token) for token in record["tokens"]]
        agreement.add(record["source"], record["text"], recorded, analyzer.analyze(record["text"]))
    return agreement


@click.command()
@click.option(
    "--golden", type=click.Path(path_type=Path), default=GOLDEN, help="The folder of recorded tokens."
)
@click.option("--list", "listed", is_flag=True, help="Also print every difference in its context.")
@json_option
def main(golden: Path, listed: bool, as_json: bool) -> None:
    """Compare the analyzers with the tokens of a real Elasticsearch for the same texts."""
    files = sorted(path for path in golden.glob("analysis-*.jsonl.gz") if FILE.fullmatch(path.name))
    if not files:
        echo(
            f"no recorded tokens (analysis-*.jsonl.gz) in {golden}; set their folder: --golden DIR", err=True
        )
        sys.exit(2)
    agreements = [compare_with_recorded(path) for path in files]
    if as_json:
        more = [{"differences": each.differences} if listed else {} for each in agreements]
        echo_json({"analyzers": [{**each.row(), **of} for each, of in zip(agreements, more, strict=True)]})
        return
    for agreement in agreements if listed else ():
        echo(f"# {agreement.name}: {counted(len(agreement.differences), 'difference')}")
        for difference in agreement.differences:
            echo(difference)
    echo_rows([agreement.row() for agreement in agreements], as_json=False)


if __name__ == "__main__":
    main()
