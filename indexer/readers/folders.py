"""Which files of a folder, or members of a zip archive, belong to the corpus."""

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

JSON_ENDINGS = frozenset({".jsonl", ".ndjson", ".json"})
XML_ENDINGS = frozenset({".xml"})
TABLE_ENDINGS = frozenset({".csv", ".tsv"})
PDF_ENDINGS = frozenset({".pdf"})
MARKDOWN_ENDINGS = frozenset({".md", ".markdown"})
TEXT_ENDINGS = frozenset({".txt", ".text"})
# A README lies beside records, and beside papers too: of these kinds the first that there is is the corpus.
KINDS_OF_ENDINGS = (
    JSON_ENDINGS | XML_ENDINGS | TABLE_ENDINGS,
    PDF_ENDINGS,
    MARKDOWN_ENDINGS,
    TEXT_ENDINGS,
)
ENDINGS = frozenset[str]().union(*KINDS_OF_ENDINGS)
ENDINGS_OF_FORMAT: dict[str, frozenset[str]] = {
    "miracl": JSON_ENDINGS,
    "beir": JSON_ENDINGS,
    "scienceon": XML_ENDINGS | JSON_ENDINGS,
    "jsonl": JSON_ENDINGS,
    "csv": TABLE_ENDINGS,
    "pdf": PDF_ENDINGS,
    "markdown": MARKDOWN_ENDINGS,
    "text": TEXT_ENDINGS,
}

# Topics and judgements lie beside the corpus in BEIR's, MIRACL's and ir_datasets' layouts.
EVALUATION_NAME = re.compile(r"(?:topics|queries|questions|qrels|claims)(?:\..*)?", re.IGNORECASE)
BEIR_CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")
BEIR_COMPANIONS = ("queries.jsonl", "queries.jsonl.gz", "qrels")


def ending_of(name: str) -> str:
    """Return the ending that tells the kind of file, in lower case and without `.gz`; '' if it is none."""
    ending = PurePosixPath(name.lower().removesuffix(".gz")).suffix
    return ending if ending in ENDINGS else ""


def is_archive(name: str) -> bool:
    """Tell whether the name is that of a zip archive."""
    return name.lower().endswith(".zip")


def corpus_names(names: Iterable[str], endings: Collection[str] | None = None) -> list[str]:
    """Choose the corpus files among all names of one folder (relative, with `/`), in sorted order.

    Hidden ones and those of other endings are left out, and so are topics, queries, questions,
    qrels and claims. Of a folder in BEIR's layout only the corpus is left. Without `endings` the files are
    of one kind: records, else PDFs, else Markdown, else text.
    """
    listing = sorted(names, key=lambda name: name.split("/"))
    candidates = [name for name in _without_beir_companions(listing) if _belongs(name, endings or ENDINGS)]
    if endings is None:
        found = {ending_of(name) for name in candidates}
        endings = next((kind for kind in KINDS_OF_ENDINGS if kind & found), ENDINGS)
    return [name for name in candidates if is_archive(name) or ending_of(name) in endings]


def files_below(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (name relative to the folder, why it cannot be read or '') of every file below it, in any order.

    Links to folders are followed, each folder once. A folder that cannot be listed is yielded itself.
    """
    seen: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        below = waiting.pop()
        try:
            status = below.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            # Sorted, so that of two links to one folder the same one is followed each time.
            entries = sorted(below.iterdir(), reverse=True)
            waiting.extend(entry for entry in entries if entry.is_dir())
            names = [entry.relative_to(folder).as_posix() for entry in entries if entry.is_file()]
        except OSError as error:
            yield below.relative_to(folder).as_posix(), f"the folder cannot be read: {error.strerror}"
            continue
        yield from ((name, "") for name in names)


def _belongs(name: str, endings: Collection[str]) -> bool:
    parts = name.split("/")
    if any(part.startswith((".", "__MACOSX")) or EVALUATION_NAME.fullmatch(part) for part in parts):
        return False
    return is_archive(name) or ending_of(name) in endings


def _without_beir_companions(names: list[str]) -> list[str]:
    """Drop what lies in a folder of BEIR's layout beside or below its corpus, and the packed copy of it."""
    present = set(names) | {str(parent) for name in names for parent in PurePosixPath(name).parents}
    corpus_of: dict[str, str] = {}
    for name in names:
        folder, _, last = name.rpartition("/")
        if last in BEIR_CORPUS and any(_joined(folder, other) in present for other in BEIR_COMPANIONS):
            corpus_of.setdefault(folder, name)
    if not corpus_of:
        return names
    return [name for name in names if corpus_of.get(name.rpartition("/")[0], name) == name]


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
