"""The files of a corpus: their names and endings, the files below folders, the members of zip archives."""

import os
import re
import stat
import zipfile
from collections import Counter, deque
from collections.abc import Collection, Sequence
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
FORMATS_OF_DOCUMENTS = frozenset({"text", "markdown", "pdf"})  # one paper per file
ENDINGS = frozenset(chain.from_iterable(ENDINGS_OF_FORMAT.values()))
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


def is_corpus_file(name: str, endings: Collection[str] = ENDINGS) -> bool:
    """Check for a corpus file by its name in a folder (relative, with `/`).

    Hidden files, other endings, topics, queries, questions, qrels, claims, and texts about the corpus such as
    README.md are none.
    """
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

    @property
    def name(self) -> str:
        """The name in messages."""
        return f"{self.path}/{self.member}" if self.member else self.path


@dataclass(slots=True)
class LeftOut:
    """Names of files in the folders of a corpus that are not read."""

    others: list[str] = field(default_factory=list)  # no corpus files
    links: list[str] = field(default_factory=list)  # links out of the folder, or broken ones
    special: list[str] = field(default_factory=list)  # FIFOs, sockets and devices

    @property
    def endings(self) -> Counter[str]:
        """The number of other files by ending, "" without one."""
        return Counter(PurePosixPath(name.removesuffix(".gz")).suffix.lower() for name in self.others)

    def described(self) -> list[str]:
        """Format lines about the files that are not read."""
        files = [f"{count:,} {ending or 'without ending'}" for ending, count in self.endings.most_common()]
        shown = self.others[:SHOWN] if self.others else []
        lines = {
            "not read": _first(files, SHOWN_ENDINGS) + (f" ({_first(shown)})" if shown else ""),
            "links out of the folder or broken, not followed (--follow-links)": _first(self.links),
            "not regular files, never read": _first(self.special),
        }
        return [f"{what}: {names}" for what, names in lines.items() if names]

    def as_record(self) -> dict[str, Any]:
        """Return the counts for JSON, and the first names of links and special files."""
        named = {"links": self.links, "special": self.special}
        return {"endings": dict(self.endings)} | {
            group: {"count": len(names), "first": names[:SHOWN]} for group, names in named.items()
        }


def _first(names: Sequence[str], most: int = SHOWN) -> str:
    return ", ".join(names[:most]) + (f", … ({len(names):,})" if len(names) > most else "")


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
    once: dict[str, str] = {}  # by real path
    for name, path in below.items():
        if is_corpus_file(name, endings):
            once.setdefault(os.path.realpath(path), name)
        else:
            left_out.others.append(path)
    left_out.others.sort()
    names = sorted(once.values(), key=_place)
    return [
        *(CorpusFile(path, root=str(folder), problem=problem) for path, problem in sorted(refused.items())),
        *(CorpusFile(below[name], sizes[below[name]], root=str(folder)) for name in names),
    ]


def _place(name: str) -> list[str]:
    """Return a key that sorts files folder by folder."""
    return name.split("/")


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
    names = (name for name in members.keys() - unsafe if is_corpus_file(name, endings))
    for name in sorted(names, key=_place):
        found.append(_member(file, members[name]))
        unpacked_bytes += 0 if found[-1].problem else members[name].file_size
        if is_bomb(unpacked_bytes, file.size):
            return [*found[:-1], replace(file, member=name, problem=f"the archive {BOMB}")]
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
