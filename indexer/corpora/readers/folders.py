"""Names of corpus files, and the files below a folder."""

import os
import re
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePosixPath

PARQUET_ENDINGS = frozenset({".parquet"})
LINES_ENDINGS = PARQUET_ENDINGS | {".jsonl", ".ndjson"}  # JSON lines, also those made of rows
JSON_ENDINGS = LINES_ENDINGS | {".json"}
XML_ENDINGS = frozenset({".xml", ".nxml"})
TEXT_ENDINGS = frozenset({".txt", ".text"})
# In reading order: the later of two records with the same id wins, which is the paper's own file.
ENDINGS_OF_FORMAT: dict[str, frozenset[str]] = {
    "miracl": JSON_ENDINGS,
    "beir": JSON_ENDINGS,
    "scienceon": XML_ENDINGS | JSON_ENDINGS,
    "csl-json": JSON_ENDINGS,
    "jsonl": JSON_ENDINGS,
    "csv": TEXT_ENDINGS | {".csv", ".tsv"},
    "ris": frozenset({".ris"}),
    "bibtex": frozenset({".bib", ".bibtex"}),
    "endnote": XML_ENDINGS | {".enw"},
    "medline": TEXT_ENDINGS | {".nbib"},
    "wos": TEXT_ENDINGS | {".ciw"},
    "refworks": TEXT_ENDINGS,
    "crossref": JSON_ENDINGS,
    "openalex": JSON_ENDINGS,
    "arxiv": JSON_ENDINGS | XML_ENDINGS,
    "pubmed": XML_ENDINGS,
    "dublin-core": XML_ENDINGS,
    "marcxml": XML_ENDINGS,
    "jats": XML_ENDINGS,
    "text": TEXT_ENDINGS,
    "markdown": frozenset({".md", ".markdown"}),
    "pdf": frozenset({".pdf"}),
}
ENDINGS = frozenset(chain.from_iterable(ENDINGS_OF_FORMAT.values()))
# Formats with one paper per file, best first: of files with the same name, the best one is read.
DOCUMENT_FORMATS = ("pdf", "markdown", "text")
RANK_OF_COPY = {
    ending: rank for rank, name in enumerate(DOCUMENT_FORMATS) for ending in ENDINGS_OF_FORMAT[name]
}

# Texts about a corpus (README.ko.md, LICENSE.txt), and the topics and qrels beside it.
NOTICE_NAME = re.compile(
    r"(?:README|LICEN[CS]E|COPYING|NOTICE|CHANGELOG|CONTRIBUTING)(?:[._-][a-z]{2})?\.(?:md|markdown|txt|text)",
    re.IGNORECASE,
)
EVALUATION_NAME = re.compile(r"(?:topics|queries|questions|qrels|claims)(?:\..*)?", re.IGNORECASE)
PART_NAME = re.compile(r"part_\d+")  # OpenAlex's snapshot: JSON lines


def ending_of(name: str) -> str:
    """Return the ending that determines the kind of file, lower-case and without `.gz`; '' for others."""
    path = PurePosixPath(name.lower().removesuffix(".gz"))
    if PART_NAME.fullmatch(path.name):
        return ".jsonl"
    return path.suffix if path.suffix in ENDINGS else ""


def is_archive(name: str) -> bool:
    """Check whether a name is that of a zip archive."""
    return name.lower().endswith(".zip")


def is_hidden(name: str) -> bool:
    """Check for a hidden or irrelevant name of a file or folder."""
    return name.startswith((".", "__MACOSX"))


def corpus_names(names: Iterable[str], endings: Collection[str] = ENDINGS) -> dict[str, tuple[str, ...]]:
    """Select the corpus files among the names of a folder (relative, with `/`), in sorted order.

    Hidden files, other endings, topics, queries, questions, qrels, claims, and texts about the corpus such as
    README.md are left out. Of documents with the same name, which have the same id, the best one is selected
    and mapped to its copies, best first (a.pdf to a.md and a.txt).
    """
    alike: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: name.split("/")):
        if _belongs(name, endings):
            is_document = ending_of(name) in RANK_OF_COPY
            stem = name.removesuffix(".gz").rpartition(".")[0] if is_document else name
            alike.setdefault(stem, []).append(name)
    ranked = (
        sorted(group, key=lambda name: RANK_OF_COPY.get(ending_of(name), 0)) for group in alike.values()
    )
    chosen = {best: tuple(copies) for best, *copies in ranked}
    return dict(sorted(chosen.items(), key=lambda each: each[0].split("/")))


def _belongs(name: str, endings: Collection[str]) -> bool:
    parts = name.split("/")
    if any(is_hidden(part) or EVALUATION_NAME.fullmatch(part) for part in parts):
        return False
    if NOTICE_NAME.fullmatch(parts[-1].removesuffix(".gz")):
        return False
    return is_archive(name) or ending_of(name) in endings


@dataclass(slots=True)
class Walk:
    """The files below a folder, and the skipped entries, as paths."""

    files: dict[str, int] = field(default_factory=dict)  # sizes; those reached through links are last
    links: list[str] = field(default_factory=list)  # links out of the folder, or broken ones
    special: list[str] = field(default_factory=list)  # FIFOs, sockets and devices
    unreadable: dict[str, str] = field(default_factory=dict)  # reasons

    def add(self, path: Path) -> None:
        """Add a file."""
        try:
            status = path.stat()
        except OSError as error:
            self.unreadable[str(path)] = f"the file cannot be read: {error.strerror}"
            return
        if stat.S_ISREG(status.st_mode):
            self.files[str(path)] = status.st_size
        else:
            self.special.append(str(path))

    def refuse(self, error: OSError) -> None:
        """Note a folder that cannot be listed."""
        self.unreadable[str(error.filename)] = f"the folder cannot be read: {error.strerror}"


def walk(folder: Path, *, follow_links: bool = False) -> Walk:
    """List the non-hidden files below a folder.

    A folder is entered once, by its own name rather than through a link.
    """
    found, root, entered = Walk(), folder.resolve(), set[str]()
    starts, linked = [folder], list[Path]()  # the folder and folders behind links; links to files
    for start in starts:
        for link in _add_files(start, found, entered):
            target = Path(os.path.realpath(link))
            if not target.exists() or not (follow_links or target.is_relative_to(root)):
                found.links.append(str(link))
            else:
                (starts if target.is_dir() else linked).append(link)
    for link in linked:
        found.add(link)
    return found


def _add_files(start: Path, found: Walk, entered: set[str]) -> list[Path]:
    """Add the files below a folder to `found`; return the links."""
    links: list[Path] = []
    for place, folders, names in os.walk(start, onerror=found.refuse):
        is_new = (real := os.path.realpath(place)) not in entered
        entered.add(real)
        visible = [Path(place, name) for name in sorted((*names, *folders)) if is_new and not is_hidden(name)]
        links += filter(Path.is_symlink, visible)
        folders[:] = [path.name for path in visible if path.name in folders]
        for path in visible:
            if path.name not in folders and not path.is_symlink():
                found.add(path)
    return links
