"""Selection of corpus files in a folder or zip archive."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath

from indexer.corpora.readers.walking import is_hidden

PARQUET_ENDINGS = frozenset({".parquet"})
LINES_ENDINGS = PARQUET_ENDINGS | {".jsonl", ".ndjson"}  # JSON lines, also those made of rows
JSON_ENDINGS = LINES_ENDINGS | {".json"}
XML_ENDINGS = frozenset({".xml", ".nxml"})
TABLE_ENDINGS = frozenset({".csv", ".tsv"})
RIS_ENDINGS = frozenset({".ris"})
BIBTEX_ENDINGS = frozenset({".bib", ".bibtex"})
ENDNOTE_ENDINGS = frozenset({".enw"})
MEDLINE_ENDINGS = frozenset({".nbib"})
WOS_ENDINGS = frozenset({".ciw"})
PDF_ENDINGS = frozenset({".pdf"})
MARKDOWN_ENDINGS = frozenset({".md", ".markdown"})
TEXT_ENDINGS = frozenset({".txt", ".text"})
COPIES = (PDF_ENDINGS, MARKDOWN_ENDINGS, TEXT_ENDINGS)  # endings of copies of a paper, best first
RANK_OF_COPY = {ending: rank for rank, endings in enumerate(COPIES) for ending in endings}
DOCUMENT_ENDINGS = MARKDOWN_ENDINGS | TEXT_ENDINGS
REFERENCE_ENDINGS = RIS_ENDINGS | BIBTEX_ENDINGS | ENDNOTE_ENDINGS | MEDLINE_ENDINGS | WOS_ENDINGS
ENDINGS = JSON_ENDINGS | XML_ENDINGS | TABLE_ENDINGS | REFERENCE_ENDINGS | PDF_ENDINGS | DOCUMENT_ENDINGS
# In reading order: the later of two records with the same id wins, which is the paper's own file.
ENDINGS_OF_FORMAT: dict[str, frozenset[str]] = {
    "miracl": JSON_ENDINGS,
    "beir": JSON_ENDINGS,
    "scienceon": XML_ENDINGS | JSON_ENDINGS,
    "csl-json": JSON_ENDINGS,
    "jsonl": JSON_ENDINGS,
    "csv": TABLE_ENDINGS,
    "ris": RIS_ENDINGS,
    "bibtex": BIBTEX_ENDINGS,
    "endnote": ENDNOTE_ENDINGS | XML_ENDINGS,
    "medline": MEDLINE_ENDINGS,
    "wos": WOS_ENDINGS,
    "refworks": frozenset(),  # without an ending of its own
    "crossref": JSON_ENDINGS,
    "openalex": JSON_ENDINGS,
    "arxiv": JSON_ENDINGS | XML_ENDINGS,
    "pubmed": XML_ENDINGS,
    "dublin-core": XML_ENDINGS,
    "marcxml": XML_ENDINGS,
    "jats": XML_ENDINGS,
    "text": TEXT_ENDINGS,
    "markdown": MARKDOWN_ENDINGS,
    "pdf": PDF_ENDINGS,
}

# Texts about a corpus: README.md, README.ko.md, LICENSE.txt.
NOTICE_NAME = re.compile(
    r"(?:README|LICEN[CS]E|COPYING|NOTICE|CHANGELOG|CONTRIBUTING)(?:[._-][a-z]{2})?", re.IGNORECASE
)
PART_NAME = re.compile(r"part_\d+")  # OpenAlex's snapshot: JSON lines
# Topics and qrels are next to the corpus in the layouts of BEIR, MIRACL and ir_datasets.
EVALUATION_NAME = re.compile(r"(?:topics|queries|questions|qrels|claims)(?:\..*)?", re.IGNORECASE)
BEIR_CORPUS = ("corpus.jsonl", "corpus.jsonl.gz")
BEIR_COMPANIONS = ("queries.jsonl", "queries.jsonl.gz", "qrels")


def ending_of(name: str) -> str:
    """Return the ending that determines the kind of file, lower-case and without `.gz`; '' for others."""
    path = PurePosixPath(name.lower().removesuffix(".gz"))
    if PART_NAME.fullmatch(path.name):
        return ".jsonl"
    return path.suffix if path.suffix in ENDINGS else ""


def is_archive(name: str) -> bool:
    """Check whether a name is that of a zip archive."""
    return name.lower().endswith(".zip")


def corpus_names(names: Iterable[str], endings: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Select the corpus files among the names of a folder (relative, with `/`), in sorted order.

    Hidden files, other endings, topics, queries, questions, qrels, claims, and texts about the corpus such as
    README.md are left out. Of a folder in BEIR's layout only the corpus is selected. Of copies of a paper,
    which have the same id, the best is selected and mapped to the others (a.pdf to a.txt).
    """
    listing = sorted(names, key=lambda name: name.split("/"))
    chosen = [name for name in _without_beir_companions(listing) if _belongs(name, endings or ENDINGS)]
    copies: dict[str, list[str]] = {}  # by name without ending
    for name in chosen:
        if ending_of(name) in RANK_OF_COPY:
            copies.setdefault(_stem(name), []).append(name)
    return {
        name: others
        for name in chosen
        if (others := _worse_copies(name, copies.get(_stem(name), ()))) is not None
    }


def _belongs(name: str, endings: Collection[str]) -> bool:
    parts = name.split("/")
    if any(is_hidden(part) or EVALUATION_NAME.fullmatch(part) for part in parts):
        return False
    ending = ending_of(name)
    if ending in DOCUMENT_ENDINGS and NOTICE_NAME.fullmatch(parts[-1][: parts[-1].lower().rindex(ending)]):
        return False
    return is_archive(name) or ending in endings


def _worse_copies(name: str, copies: Sequence[str]) -> tuple[str, ...] | None:
    """Return the worse copies, best first; None if there is a better copy."""
    if name not in copies:
        return ()
    rank = _rank(name)
    if rank > min(map(_rank, copies)):
        return None
    return tuple(sorted((copy for copy in copies if _rank(copy) > rank), key=_rank))


def _rank(name: str) -> int:
    return RANK_OF_COPY[ending_of(name)]


def _stem(name: str) -> str:
    return name.removesuffix(".gz").rpartition(".")[0]


def _without_beir_companions(names: list[str]) -> list[str]:
    """Drop files next to or below the corpus in a folder of BEIR's layout, and its compressed copy."""
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
