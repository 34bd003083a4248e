"""Hints of the citation check on judged claims, and on the recorded answers of a large model.

    python -m tools.hints [--data DIR] [--list] [--json]

Reads the claims of `sample/` and, if present, the folder `answers` of the shared evaluation data: sentences
that a model wrote about the sample, all of them supported, and sentences with one error. Reported: supported
and unsupported claims, and how many of them have a hint, by set, language and kind of error. `--list` prints
the supported claims with hints.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from base.sample import SAMPLE, SAMPLE_PAPERS
from base.terminal.output import echo
from generator.answers.answer import SECTIONS
from generator.checking import Hint, check_sentence
from indexer.corpora.papers import Paper
from indexer.files.stored import stored_passages
from tools.bench import Row, optional_data_option, table_command
from tools.collections import read_lines

RECORDED = "recorded answers"
PAIRS = {"within": "one language", "across": "two languages"}


class Claim(NamedTuple):
    """A judged claim: its set, and its kind of error or pair of languages."""

    of: str
    kind: str
    text: str
    citations: tuple[str, ...]
    supported: bool


def sample_claims() -> Iterator[Claim]:
    """Yield the claims of the sample."""
    for name in ("claims", "further_claims"):
        for claim in read_lines(SAMPLE / f"{name}.jsonl"):
            supported = claim["label"] == "supported"
            yield Claim(name, PAIRS[claim["pair"]], claim["text"], tuple(claim["citations"]), supported)


def recorded_claims(folder: Path) -> Iterator[Claim]:
    """Yield the sentences and titles of recorded answers, and the sentences with an error.

    An error whose citation number no sentence of its answer explains is left out.
    """
    if not folder.is_dir():
        return
    replies = {each["query_id"]: each["reply"] for each in read_lines(folder / "answers.jsonl")}
    evidence: dict[str, dict[int, str]] = {query_id: {} for query_id in replies}
    checked = [each for each in read_lines(folder / "checked.jsonl") if each["check"]]
    for each in checked:
        if each["section"] in SECTIONS:
            numbers = replies[each["query_id"]][each["section"]][each["n"] - 1]["citations"]
            if len(numbers) == len(each["citations"]):
                evidence[each["query_id"]] |= dict(zip(numbers, each["citations"], strict=True))
    for each in checked:
        citations = each["citations"] or evidence[each["query_id"]].values()
        yield Claim(RECORDED, "all", each["text"], tuple(citations), supported=True)
    for each in read_lines(folder / "false.jsonl"):
        numbered = evidence[each["query_id"]]
        if set(each["citations"]) <= numbered.keys():
            citations = tuple(numbered[number] for number in each["citations"])
            yield Claim(RECORDED, each["kind"], each["false"], citations, supported=False)


def hints_of(claims: Iterable[Claim]) -> list[tuple[Claim, Sequence[Hint]]]:
    """Check each claim against the papers of the sample that it cites."""
    papers = (Paper.model_validate_json(json.dumps(record)) for record in read_lines(SAMPLE_PAPERS))
    passages = {each.passage_id: each for paper in papers for each in stored_passages(paper, "paper")}
    cited = ((claim, [passages[each] for each in claim.citations]) for claim in claims)
    return [(claim, check_sentence(claim.text, of)[1]) for claim, of in cited]


def hint_rows(hints: Sequence[tuple[Claim, Sequence[Hint]]]) -> list[Row]:
    """Return a row for each set and kind: claims, and claims with a hint."""
    counts = Counter((claim.of, claim.kind, claim.supported) for claim, _ in hints)
    hinted = Counter((claim.of, claim.kind, claim.supported) for claim, found in hints if found)
    return [
        {
            "table": "hints",
            "set": of,
            "kind": kind,
            "supported": counts[of, kind, True],
            "supported with hint": hinted[of, kind, True],
            "unsupported": counts[of, kind, False],
            "unsupported with hint": hinted[of, kind, False],
        }
        for of, kind in dict.fromkeys((claim.of, claim.kind) for claim, _ in hints)
    ]


@table_command
@optional_data_option
@click.option("--list", "listing", is_flag=True, help="List the supported claims with hints.")
def main(data: Path, listing: bool) -> Iterator[Row]:
    """Count the hints of the citation check on judged claims."""
    hints = hints_of([*sample_claims(), *recorded_claims(data / "answers")])
    yield from hint_rows(hints)
    for claim, found in hints if listing else ():
        if claim.supported and found:
            listed = ", ".join(f"{hint.code} {hint.values['text']}" for hint in found)
            echo(f"{claim.of}, {claim.kind}: {listed}: {claim.text}", err=True)


if __name__ == "__main__":
    main()
