"""Agreement of the analyzers with a real Elasticsearch: the table of tokens.

    python -m tools.tokens [--golden DIR] [--list] [--json]

Compares each analyzer with tokens recorded for the same texts. F1 is micro-averaged over the tokens in order
(longest matching blocks); offsets, positions and position increments (the gap to the previous token, as
Lucene stores positions) are compared over the matching tokens. Texts that the normal form changes are left
out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import click

from base.amounts import counted
from base.terminal.output import echo
from indexer.analysis import Analyzer, Decompound, Token, make_analyzer
from indexer.analysis.normal_form import normal_form
from tools.bench import Row, path_option, table_command
from tools.collections import read_lines

GOLDEN = Path("../shared/golden")
FILE = re.compile(r"analysis-(?P<analyzer>[a-z]+)(?:-(?P<decompound>[a-z]+))?\.jsonl\.gz")
CONTEXT = 20  # characters shown on each side of a difference
ATTRIBUTES = ("offsets", "positions", "increments")


class Agreement(NamedTuple):
    """The row of an analyzer, whose attributes are shares of the matching tokens, and the differences."""

    row: Row
    differences: Sequence[str]


def compare_with_recorded(path: Path) -> Agreement:
    """Compare the analyzer in the file's name, analysis-ANALYZER[-DECOMPOUND].jsonl.gz, with the file."""
    named = FILE.fullmatch(path.name)
    assert named  # noqa: S101 - as the files of `main`
    analyzer = make_analyzer(named["analyzer"], cast(Decompound, named["decompound"] or "discard"))
    return compare_texts("-".join(filter(None, named.groups())), analyzer, read_lines(path))


def compare_texts(name: str, analyzer: Analyzer, records: Sequence[Mapping[str, Any]]) -> Agreement:
    """Compare an analyzer with records of {"source", "text", "tokens"}."""
    wanted = got = matching = 0
    same, differences = dict.fromkeys(ATTRIBUTES, 0), list[str]()
    # Elasticsearch has no such normal form.
    records = [each for each in records if normal_form(each["text"], hanja=True).text == each["text"]]
    for record in records:
        recorded: list[Token] = [tuple(token) for token in record["tokens"]]
        ours = analyzer.analyze(record["text"])
        wanted, got = wanted + len(recorded), got + len(ours)
        for one, other in _pairs(recorded, ours):
            if len(one) == len(other) == 1 and one[0][0][0] == other[0][0][0]:
                [(token, gap)], [(own, own_gap)] = one, other
                matching += 1
                equal = token[2:] == own[2:], token[1] == own[1], gap == own_gap
                for attribute, is_equal in zip(ATTRIBUTES, equal, strict=True):
                    same[attribute] += is_equal
                if equal[0] and equal[2]:
                    continue
            differences.append(_difference(record, *([token for token, _ in side] for side in (one, other))))
    row = {"analyzer": name, "texts": len(records), "recorded": wanted, "ours": got}
    row["f1"] = 2 * matching / (wanted + got) if wanted + got else 1.0
    shares = {attribute: count / matching if matching else 1.0 for attribute, count in same.items()}
    return Agreement(row | shares, differences)


Side = Sequence[tuple[Token, int]]  # tokens with their gaps to the previous ones


def _pairs(recorded: Sequence[Token], ours: Sequence[Token]) -> Iterator[tuple[Side, Side]]:
    """Yield the matching tokens one by one, and the others between them, with the gaps of both sides."""
    sides = [list(zip(tokens, increments(tokens), strict=True)) for tokens in (recorded, ours)]
    terms, own_terms = ([token[0] for token in tokens] for tokens in (recorded, ours))
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, terms, own_terms, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (([one], [own]) for one, own in zip(sides[0][i1:i2], sides[1][j1:j2], strict=True))
        else:
            yield sides[0][i1:i2], sides[1][j1:j2]


def increments(tokens: Iterable[Token]) -> list[int]:
    """Return each token's gap to the previous one; the first one's is relative to −1."""
    return [here - before for before, here in pairwise([-1, *(token[1] for token in tokens)])]


def _difference(record: Mapping[str, Any], recorded: Sequence[Token], ours: Sequence[Token]) -> str:
    """Describe a difference in its context; each side as "token@start-end:position"."""
    text, both = record["text"], (*recorded, *ours)
    start, end = min(token[2] for token in both), max(token[3] for token in both)
    context = f"{text[max(0, start - CONTEXT) : start]}⟦{text[start:end]}⟧{text[end : end + CONTEXT]}"
    recorded_as, ours_as = (
        " ".join(f"{term}@{first}-{last}:{position}" for term, position, first, last in side) or "–"
        for side in (recorded, ours)
    )
    shown = context.replace("\n", " ")
    return f"{record['source']}: {shown}\n    recorded {recorded_as}\n    here     {ours_as}"


@table_command
@path_option("--golden", "The folder of recorded tokens.", default=GOLDEN)
@click.option("--list", "listed", is_flag=True, help="Also list every difference in its context.")
def main(golden: Path, listed: bool) -> list[Row]:
    """Compare the analyzers with the tokens of a real Elasticsearch for the same texts."""
    files = sorted(path for path in golden.glob("analysis-*.jsonl.gz") if FILE.fullmatch(path.name))
    if not files:
        raise click.UsageError(f"no recorded tokens in {golden}; set their folder: --golden DIR")
    agreements = [compare_with_recorded(path) for path in files]
    for row, differences in agreements if listed else ():
        echo(f"# {row['analyzer']}: {counted(len(differences), 'difference')}", err=True)
        for difference in differences:
            echo(difference, err=True)
    return [row for row, _ in agreements]


if __name__ == "__main__":
    main()
