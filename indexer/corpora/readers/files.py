"""The files of a corpus: their names and endings, the files below folders, the members of zip archives."""

import os
import re
import stat
import zipfile
from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from base.errors import UnknownPath
from base.files.regular_files import open_regular
from indexer.corpora.readers.hub import hub_files, on_hub
from indexer.errors import UnknownFormat

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


BOMB_BYTES = 256 << 20  # small archives may unpack to this size at any ratio
BOMB_RATIO = 200  # scholarly text compresses to a third or a tenth; only repetition reaches more
BOMB = f"unpacks to more than {BOMB_RATIO} times its size; reading stops here"
ENCRYPTED = 0x1
LEADS_OUTSIDE = re.compile(
    r"[/\\]|[^/\\]*:(?:[/\\]|$)|(?:.*[/\\])?\.\.(?:[/\\]|$)", re.DOTALL
)  # names of members
SHOWN, SHOWN_ENDINGS = 3, 10  # names and endings in a report


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file, a member of a zip archive, or a file of the hub. `problem` is the reason why it is not read."""

    path: str  # of the file or archive
    size: int = 0  # as stored
    member: str = ""
    root: str = ""  # the folder or archive of the corpus, or the file's folder
    problem: str = ""
    format: str = ""  # "" until it is detected
    copies: tuple["CorpusFile", ...] = ()  # documents with the same name, best first

    @property
    def name(self) -> str:
        """The name in messages."""
        return f"{self.path}/{self.member}" if self.member else self.path


@dataclass(slots=True)
class LeftOut:
    """Names of files in the folders of a corpus that are not read."""

    others: list[str] = field(default_factory=list)  # no corpus files
    copies: list[str] = field(default_factory=list)  # read only if the better file is refused
    links: list[str] = field(default_factory=list)  # links out of the folder, or broken ones
    special: list[str] = field(default_factory=list)  # FIFOs, sockets and devices

    @property
    def endings(self) -> Counter[str]:
        """The number of other files by ending, "" without one."""
        return Counter(map(_any_ending, self.others))

    def described(self) -> list[str]:
        """Format lines about the files that are not read."""
        first = {_any_ending(name): name for name in reversed(self.others)}
        files = [
            f"{count:,} {ending or 'without ending'} ({PurePosixPath(first[ending]).name})"
            for ending, count in self.endings.most_common()
        ]
        lines = {
            "not read": ", ".join(files[:SHOWN_ENDINGS]) + (", …" if len(files) > SHOWN_ENDINGS else ""),
            "copies, read only if the PDF or Markdown of the same name is refused": _first(self.copies),
            "links out of the folder or broken, not followed (--follow-links)": _first(self.links),
            "not regular files, never read": _first(self.special),
        }
        return [f"{what}: {names}" for what, names in lines.items() if names]

    def as_record(self) -> dict[str, Any]:
        """Return the counts for JSON, and the first names of copies, links and special files."""
        named = {"copies": self.copies, "links": self.links, "special": self.special}
        return {"endings": dict(self.endings)} | {
            group: {"count": len(names), "first": names[:SHOWN]} for group, names in named.items()
        }


def _any_ending(name: str) -> str:
    return PurePosixPath(name.removesuffix(".gz")).suffix.lower()


def _first(names: Sequence[str]) -> str:
    more = ", …" if len(names) > SHOWN else ""
    return f"{len(names):,} ({', '.join(names[:SHOWN])}{more})" if names else ""


def files_at(
    path: str, endings: Collection[str], left_out: LeftOut, *, follow_links: bool
) -> list[CorpusFile]:
    """Return the corpus files at a path, with the members of archives; other files are added to `left_out`.

    Raises `UnknownPath`, or `UnknownFormat` for a format that is not read from the hub.
    """
    if not path:
        raise UnknownPath("a path is empty; the current folder is called .")
    if on_hub(path):
        if JSON_ENDINGS.isdisjoint(endings):
            raise UnknownFormat(f"{path}: only JSON lines and Parquet are read from the hub")
        return [CorpusFile(name, size) for name, size in hub_files(path).items()]
    place = Path(path)
    try:
        is_file, size = place.is_file(), place.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        raise UnknownPath(f"{path}: there is no such file or folder.") from None
    except (OSError, ValueError) as error:
        raise UnknownPath(f"{path}: {getattr(error, 'strerror', None) or error}.") from None
    if is_file:
        return _with_members(CorpusFile(path, size), endings)
    if not place.is_dir():
        raise UnknownPath(f"{path}: it is neither a file nor a folder.")
    found = _files_below(place, endings, left_out, follow_links=follow_links)
    return [member for file in found for member in _with_members(file, endings)]


def _files_below(
    folder: Path, endings: Collection[str], left_out: LeftOut, *, follow_links: bool
) -> list[CorpusFile]:
    """Return the files of a folder, each once, by its own name rather than through a link."""
    sizes, refused = _walk(folder, left_out, follow_links=follow_links)
    below = {str(Path(path).relative_to(folder)): path for path in sizes}
    names = corpus_names(below, endings)
    once: dict[str, str] = {}
    for name in filter(names.__contains__, below):
        once.setdefault(os.path.realpath(below[name]), name)

    def file(name: str, *copies: str) -> CorpusFile:
        path = below[name]
        return CorpusFile(path, sizes[path], root=str(folder), copies=tuple(map(file, copies)))

    copies = {*chain.from_iterable(names.values())}
    left_out.others += sorted(
        path for name, path in below.items() if name not in names and name not in copies
    )
    left_out.copies += sorted(below[name] for name in copies)
    wanted = {*once.values()}
    return [
        *(CorpusFile(path, root=str(folder), problem=problem) for path, problem in sorted(refused.items())),
        *(file(name, *alike) for name, alike in names.items() if name in wanted),
    ]


def _walk(folder: Path, left_out: LeftOut, *, follow_links: bool) -> tuple[dict[str, int], dict[str, str]]:
    """Return the sizes of the files below a folder by path, and the reasons why others cannot be read.

    A folder is entered once, by its own name rather than through a link; files behind links are last.
    """
    sizes, refused, entered = dict[str, int](), dict[str, str](), set[Path]()
    own, links = deque([folder]), deque[Path]()
    while own or links:
        is_link, path = not own, (own or links).popleft()
        real = Path(os.path.realpath(path))
        is_outside = not follow_links and not real.is_relative_to(folder.resolve())
        if is_link and (is_outside or not real.exists()):
            left_out.links.append(str(path))
            continue
        is_folder = path.is_dir()
        try:
            if not is_folder and stat.S_ISREG((status := path.stat()).st_mode):
                sizes[str(path)] = status.st_size
            elif not is_folder:
                left_out.special.append(str(path))
            elif real not in entered:
                entered.add(real)
                for each in sorted(path.iterdir()):
                    if not is_hidden(each.name):
                        (links if each.is_symlink() else own).append(each)
        except OSError as error:
            what = "folder" if is_folder else "file"
            refused[str(path)] = f"the {what} cannot be read: {error.strerror}"
    left_out.links.sort()
    left_out.special.sort()
    return sizes, refused


def _with_members(file: CorpusFile, endings: Collection[str]) -> list[CorpusFile]:
    """Return the corpus members of a zip archive, refused ones with a problem; any other file alone."""
    is_zip = is_archive(file.path) or (not ending_of(file.path) and zipfile.is_zipfile(file.path))
    if file.problem or not is_zip or not file.size:
        return [replace(file, root=file.root or str(Path(file.path).parent))]
    file = replace(file, root=file.root or file.path)
    try:
        with open_regular(Path(file.path)) as opened, zipfile.ZipFile(opened) as archive:
            members = {member.filename: member for member in archive.infolist() if not member.is_dir()}
    except Exception as error:  # noqa: BLE001  (zipfile and zlib have no common error)
        return [replace(file, problem=f"the archive cannot be opened: {why(error)}")]
    unsafe = sorted(filter(LEADS_OUTSIDE.match, members))
    found = [replace(file, member=name, problem="the path leads out of the archive") for name in unsafe]
    unpacked_bytes = 0
    for name, copies in corpus_names(members.keys() - unsafe, endings).items():
        first, *others = (_member(file, members[each]) for each in (name, *copies))
        unpacked_bytes += 0 if first.problem else members[name].file_size
        if is_bomb(unpacked_bytes, file.size):
            return [*found, replace(file, member=name, problem=f"the archive {BOMB}")]
        found.append(replace(first, copies=tuple(others)))
    return found


def _member(file: CorpusFile, member: zipfile.ZipInfo) -> CorpusFile:
    """Return a member; its declared size is reliable, as zipfile reads no more."""
    problem = ""
    if member.flag_bits & ENCRYPTED:
        problem = "the member is encrypted"
    elif is_archive(member.filename) or member.filename.lower().endswith(".gz"):
        problem = "an archive inside an archive; unpack it first"
    elif is_bomb(member.file_size, member.compress_size):
        problem = f"the member {BOMB}"
    return replace(file, member=member.filename, size=member.compress_size, problem=problem)


def is_bomb(unpacked_bytes: int, packed_bytes: int) -> bool:
    """Check whether compressed data of a size unpacks to too much."""
    return unpacked_bytes > max(BOMB_BYTES, BOMB_RATIO * packed_bytes)


def why(error: Exception) -> str:
    """Describe an error of the system or of a decompressor in one line."""
    return getattr(error, "strerror", None) or (str(error) or type(error).__name__).splitlines()[0]
