"""Precision of the mined glossary: counts, and a sample for manual judgement.

    python -m tools.glossary --home DIR [--collection NAME] [--list] [--judged FILE] [--json]

Indexes the Korean collections of `training/` in the data folder, and `sample/`. Counts the pairs by source,
and the abbreviations. `--list` prints a fixed sample of 300 of them as JSON lines, with the text around one
occurrence of each; replace the null of "right" by true or false. `--judged FILE` reads such a list, and
reports the share of right items, and the share of right items that are still mined.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click

from base.terminal.output import echo_lines
from base.terminal.parameters import PathParameter
from indexer.glossary.pairs import Source
from indexer.glossary.storage import TIER_OF, Glossary
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import GLOSSARY
from indexer.versions.store.engines import open_store
from tools.bench import Row, data_option, home_option, names_option, table_command
from tools.collections import OF_SAMPLE, TRAINING, read_lines

NAMES = ("sample", "autorag-ko", "belebele-ko", "korquad-500", "welfare-ko")
COLLECTIONS = {collection.name: collection for collection in (OF_SAMPLE, *TRAINING)}
SOURCES = tuple(source for source in get_args(Source) if source not in TIER_OF)
PAIR, ABBREVIATION = "pair", "abbreviation"
DRAWN, SEED = 300, 1
AROUND = 60  # characters on each side of the second term


class Mined(NamedTuple):
    """A pair or an abbreviation of a collection; the first four values identify it in a judged list."""

    collection: str
    kind: str
    one: str  # the Korean term, or the short form
    other: str
    papers: int
    sources: tuple[str, ...]


def mined(name: str, data: Path, settings: IndexerSettings) -> tuple[list[Mined], list[str]]:
    """Index a collection; return its mined pairs and abbreviations, and the texts of its passages."""
    paths = [str(data / COLLECTIONS[name].corpus)]
    build_index(IngestRequest(name=name, paths=paths, rebuild=True), settings)
    with open_store(settings, name) as store:
        manifest = store.manifest()
        texts = [f"{each.title} {each.text} {each.title2}" for each in store.stored_passages(manifest)]
        with Glossary(store.companion_path(manifest, GLOSSARY)) as glossary:
            pairs = (pair for pair in glossary.pairs() if pair.sources[0] not in TIER_OF)
            found = [Mined(name, PAIR, each.korean, each.english, each.count, each.sources) for each in pairs]
            found += [
                Mined(name, ABBREVIATION, form.short, form.long, form.count, ("bracket",))
                for form in glossary.all_abbreviations()
            ]
    return found, texts


def counts_of(name: str, found: Sequence[Mined]) -> Row:
    """Count the pairs of a collection, the pairs of each source, and the abbreviations."""
    pairs = [item for item in found if item.kind == PAIR]
    by_source = Counter(source for pair in pairs for source in pair.sources)
    counts = {"pairs": len(pairs), **{source: by_source[source] for source in SOURCES}}
    return {"collection": name, **counts, "abbreviations": len(found) - len(pairs)}


def around(item: Mined, texts: Iterable[str]) -> str:
    """Return the text around one occurrence of both terms next to each other; empty if there is none."""
    for text in texts:
        start = text.find(item.other)
        while start >= 0:
            window = text[max(0, start - AROUND) : start + len(item.other) + AROUND]
            if "".join(item.one.split()) in "".join(window.split()):
                return " ".join(window.split())
            start = text.find(item.other, start + 1)
    return ""


def listed(found: Iterable[Mined], texts: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    """Yield the records of a list to judge."""
    for item in found:
        yield {"right": None, **item._asdict(), "text": around(item, texts[item.collection])}


def judged_rows(judged: Sequence[Mapping[str, Any]], found: Iterable[Mined]) -> Iterator[Row]:
    """Yield the share of right items of each collection and kind, and how many of them are still mined.

    `judged` are records of a list; those whose "right" is null are left out.
    """
    now = {item[:4] for item in found}
    verdicts: dict[tuple[str, str], list[tuple[bool, bool]]] = defaultdict(list)  # right, still mined
    for each in judged:
        item = tuple(each[name] for name in Mined._fields[:4])
        if each["right"] is not None:
            verdicts[each["collection"], each["kind"]].append((each["right"], item in now))
    for (collection, kind), of_it in sorted(verdicts.items()):
        right = [is_mined for is_right, is_mined in of_it if is_right]
        yield {
            "collection": collection,
            "kind": kind,
            "judged": len(of_it),
            "right": len(right),
            "precision": len(right) / len(of_it),
            "still mined": sum(right) / (len(right) or 1),
        }


@table_command
@home_option
@data_option
@names_option(NAMES)
@click.option("--list", "listing", is_flag=True, help="Print a sample to judge, as JSON lines.")
@click.option(
    "--judged",
    type=PathParameter(exists=True, dir_okay=False),
    help="A judged list; report its precision.",
)
def main(
    home: Path, data: Path, names: tuple[str, ...], listing: bool, judged: Path | None
) -> Iterable[Row] | None:
    """Index collections and report the content of their glossaries."""
    found = {name: mined(name, data, IndexerSettings(home=home)) for name in names or NAMES}
    everything = sorted(item for items, _ in found.values() for item in items)
    if listing:
        draw = random.Random(SEED)  # noqa: S311 - no secret
        drawn = sorted(draw.sample(everything, min(DRAWN, len(everything))))
        texts = {name: of_it for name, (_, of_it) in found.items()}
        echo_lines(json.dumps(each, ensure_ascii=False) for each in listed(drawn, texts))
        return None
    if judged:
        return judged_rows(read_lines(judged), everything)
    return [counts_of(name, items) for name, (items, _) in found.items()]


if __name__ == "__main__":
    main()
