"""Fields found by the PDF reader in papers with gold labels: a table.

    python -m tools.pdf_fields [--data DIR] [--half odd|even] [--records DIR] [--workers 2]

DIR contains `files/*.pdf` and `gold.jsonl`, one object per file: `file`, `language`, and the printed values
of `title`, `authors`, `year`, `doi`, `arxiv`, `abstract_begins`, `abstract_ends`, `headings`, `references`
(their number). A field that a document does not print is not counted.

Texts are compared by their letters and digits (NFKC, case folded). An abstract is right if it starts and ends
within 20 characters of the gold words, of which 85 % match. Headings are those of the first level, without
numbers, abstract, contents, references and acknowledgements. A number of references is right within 5 %.
Authors and headings are F1, averaged over files. `--half odd` scores the first, third, … file by name, on
which the rules were chosen, `--half even` the others.
"""

import json
import re
import resource
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import click

from base.terminal.output import echo
from indexer.corpora.headings import kind_of
from indexer.corpora.papers import Paper
from indexer.corpora.readers import read_corpus
from tools.bench import Row, path_option, table_command
from tools.collections import read_lines

DATA = Path("../shared/data/pdfs")
TOLERANCE, ALIKE, REFERENCES_WITHIN = 20, 0.85, 0.05
HALVES, LANGUAGES = ("odd", "even"), ("ko", "en", "all")
NUMBER = re.compile(
    r"\s*(?:제?\s*(?:\d+|[ivxⅰ-ⅻ]+)\s*[장절편부]|(?:chapter|part|section|appendix)\s*(?:\d+|[ivx]+|[a-h])\b"
    r"|(?:\d+(?:\.\d+)*|[ivx]+|[a-h](?=[.)\s]))(?=[\s.:)]))[\s.:)–—-]*",
    re.IGNORECASE,
)
NOT_COUNTED = re.compile(
    r"(?:select)?bibliography|literaturecited|references?|참고문헌.*|참고자료|acknowledge?ments?|감사의글|사사"
)
Record = Mapping[str, Any]


def letters(text: str) -> str:
    """Return the letters and digits of a text."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def f1(gold: Iterable[str], found: Iterable[str]) -> float:
    """Return F1 of two multisets."""
    wanted, got = Counter(gold), Counter(found)
    common = (wanted & got).total()
    return 2 * common / (wanted.total() + got.total()) if common else 0.0


def begins(words: str, text: str) -> bool:
    """Check whether a text starts with the words, or within 20 characters of them."""
    wanted, start = letters(words), letters(text)
    later = ((shift, 0) for shift in range(TOLERANCE + 1))
    for shift, cut in (*later, *((0, cut) for cut in range(1, TOLERANCE))):
        pair = wanted[cut:], start[shift : shift + len(wanted) - cut]
        if pair[0] and start and SequenceMatcher(None, *pair, autojunk=False).ratio() >= ALIKE:
            return True
    return False


def names(authors: Sequence[str]) -> list[str]:
    """Return names without accents, and without a second script in brackets."""
    plain = (unicodedata.normalize("NFD", re.sub(r"\(.*?\)", "", name)) for name in authors)
    return [letters("".join(sign for sign in name if not "\u0300" <= sign <= "\u036f")) for name in plain]


def main_headings(headings: Iterable[str]) -> list[str]:
    """Return headings without their numbers, and without References and similar ones."""
    kept: list[str] = []
    for heading in headings:
        text = unicodedata.normalize("NFKC", heading)
        name = letters(text[found.end() :]) if (found := NUMBER.match(text)) else ""
        name = name or letters(text)
        if (
            name
            and not NOT_COUNTED.fullmatch(name)
            and kind_of(name) not in ("abstract", "keywords", "contents")
        ):
            kept.append(name)
    return kept


def _abstract(gold: tuple[str, str], record: Record) -> float:
    text = record.get("abstract", "")
    return float(begins(gold[0], text) and begins(gold[1][::-1], text[::-1]))


def _headings(gold: Sequence[str], record: Record) -> float:
    first_level = [section["title"] for section in record.get("sections", ()) if section["level"] == 1]
    return f1(main_headings(gold), main_headings(first_level))


def _references(gold: int, record: Record) -> float:
    return float(abs(len(record.get("reference_list", ())) - gold) <= REFERENCES_WITHIN * gold)


MEASURES: dict[str, Callable[[Any, Record], float]] = {
    "title": lambda gold, record: float(letters(gold) == letters(record.get("title", ""))),
    "authors": lambda gold, record: f1(names(gold), names(record.get("authors", ()))),
    "year": lambda gold, record: float(gold == record.get("year")),
    "doi": lambda gold, record: float(gold.casefold() == record.get("doi", "").casefold()),
    "arxiv": lambda gold, record: float(gold == record.get("arxiv")),
    "abstract": _abstract,
    "headings": _headings,
    "references": _references,
}


def wanted(gold: Record, field: str) -> Any:
    """Return the gold value of a field, None if the document does not print it."""
    if field == "abstract":
        return (gold["abstract_begins"], gold["abstract_ends"]) if gold.get("abstract_begins") else None
    if field == "headings":
        return gold["headings"] if main_headings(gold.get("headings") or ()) else None
    value = gold.get(field)
    return value if value or field == "references" else None


def scores(golds: Sequence[Record], records: Mapping[str, Record]) -> list[Row]:
    """Return for each field the share of right values and the papers that print it, by language.

    `records` are those of the reader, by file name; a missing one counts as an empty one.
    """
    rows: list[Row] = []
    for field, measure in MEASURES.items():
        values: dict[str, list[float]] = {language: [] for language in LANGUAGES}
        for gold in golds:
            if (value := wanted(gold, field)) is not None:
                share = measure(value, records.get(gold["file"], {}))
                values[gold["language"]].append(share)
                values["all"].append(share)
        row: dict[str, str | float] = {"field": field}
        for language, shares in values.items():
            row |= {language: sum(shares) / (len(shares) or 1), f"{language}, papers": len(shares)}
        rows.append(row)
    return rows


@table_command
@path_option("--data", "The labelled PDFs.", default=DATA)
@click.option("--half", type=click.Choice(HALVES), help="Read only every other file, by name.")
@path_option("--records", "Write each record there, as JSON.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, help="Number of reading processes.")
def main(data: Path, half: str | None, records: Path | None, workers: int) -> list[Row]:
    """Read PDFs that have gold labels, and score the fields of their records."""
    if not (data / "gold.jsonl").is_file():
        raise click.UsageError(f"no gold.jsonl in {data}; set a folder of labelled PDFs: --data DIR")
    golds = read_lines(data / "gold.jsonl")
    if half:
        golds = sorted(golds, key=lambda gold: gold["file"])[HALVES.index(half) :: 2]
    files = [data / "files" / gold["file"] for gold in golds]
    read = [item for item in read_corpus(files, format="pdf", workers=workers) if isinstance(item, Paper)]
    found = {f"{paper.id}.pdf": paper.record() for paper in read}
    if records:
        records.mkdir(parents=True, exist_ok=True)
        for paper in read:
            record = paper.record()
            content = {**record, "body": paper.body, "references": record.get("reference_list", [])}
            file = records / f"{paper.id}.json"
            file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    echo(f"{(used.ru_utime + used.ru_stime) / len(golds):.2f} s of processor time per paper", err=True)
    return scores(golds, found)


if __name__ == "__main__":
    main()
