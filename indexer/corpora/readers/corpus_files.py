"""The files of a corpus with their formats, and the files left out."""

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Self

from base.errors import Remedy, UnknownPath
from indexer.corpora.readers import hub
from indexer.corpora.readers.detection import (
    OWN_FORMAT,
    PASSAGE_FORMATS,
    format_of,
    format_of_record,
)
from indexer.corpora.readers.folders import (
    ENDINGS,
    ENDINGS_OF_FORMAT,
    JSON_ENDINGS,
    corpus_names,
    ending_of,
    is_archive,
)
from indexer.corpora.readers.items import DeadLetter, dead_letter
from indexer.corpora.readers.streams import CountedFile, Stream, open_streams, why_not_opened
from indexer.corpora.readers.walking import FoundFile, Walk, walk
from indexer.errors import UnknownFormat

ORDER = list(ENDINGS_OF_FORMAT)  # reading order
SHOWN, SHOWN_ENDINGS = 3, 10  # names and endings in a report


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file, the members of one format in a zip archive, or a path of the hub.

    `problem` is the reason why it cannot be read. `formats` and `problems` contain those of its streams by
    name, in an archive also of members represented by other files of the corpus.
    """

    name: str
    size: int = 0  # in an archive, the share of its members
    problem: str = ""
    root: str = ""  # the folder or archive of the corpus, or the file itself
    format: str = ""  # "" until it is detected
    endings: Collection[str] = ENDINGS  # endings of an archive's members
    formats: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, UnknownFormat] = field(default_factory=dict)
    copies: tuple[str, ...] = ()  # files of the same paper, best first
    is_first: bool = True  # the first part of an archive reports its unreadable members

    def holds(self, stream_name: str) -> bool:
        """Check whether a stream is read with this file's format."""
        format_ = self.formats.get(stream_name)
        return self.is_first if format_ is None else format_ == self.format

    def streams(self, opened: CountedFile) -> Iterator[Stream | DeadLetter]:
        """Yield the streams of the opened file, and dead letters for unreadable parts."""
        for stream in open_streams(opened, self.name, self.endings, root=self.root):
            if isinstance(stream, Stream) and stream.name not in self.problems:
                if self.holds(stream.name):
                    yield stream
            elif self.is_first:
                yield stream if isinstance(stream, DeadLetter) else self._refusal(stream)

    def _refusal(self, stream: Stream) -> DeadLetter:
        return dead_letter(stream.name, 0, str(self.problems[stream.name]))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Files in the folders of a corpus that are not read."""

    endings: Mapping[str, int] = field(default_factory=dict)  # files by ending, "" without one
    first: Mapping[str, str] = field(default_factory=dict)  # example of each ending
    copies: tuple[str, ...] = ()  # read only if the better file is refused
    links: tuple[str, ...] = ()  # links out of the folder, or broken ones
    kernel: tuple[str, ...] = ()  # in kernel file systems
    special: tuple[str, ...] = ()  # FIFOs, sockets and devices

    @classmethod
    def of(cls, folder: Path, names: Iterable[str], copies: Iterable[str], walked: Walk) -> Self:
        """Summarise the names below a folder that are not corpus files."""
        endings, first = Counter[str](), dict[str, str]()
        for name in names:
            ending = PurePosixPath(name.removesuffix(".gz")).suffix.lower()
            endings[ending] += 1
            first.setdefault(ending, name)
        named = (
            tuple(str(folder / name) for name in group)
            for group in (copies, walked.links, walked.kernel, walked.special)
        )
        return cls(endings, first, *named)

    @classmethod
    def joined(cls, several: Sequence[Self]) -> Self:
        """Merge several summaries."""
        endings, first = Counter[str](), dict[str, str]()
        for one in several:
            endings.update(one.endings)
            first = {**one.first, **first}
        named = (
            tuple(chain.from_iterable(getattr(one, group) for one in several))
            for group in ("copies", "links", "kernel", "special")
        )
        return cls(endings, first, *named)

    def described(self) -> list[str]:
        """Format lines about files, copies, links, folders and special files that were left out."""
        files = [
            f"{count:,} {ending or 'without ending'} ({self.first[ending]})"
            for ending, count in Counter(self.endings).most_common()
        ]
        lines = {
            "not read": ", ".join(files[:SHOWN_ENDINGS]) + (", …" if len(files) > SHOWN_ENDINGS else ""),
            "copies, read only if the PDF or Markdown of the same name is refused": _first(self.copies),
            "links out of the folder or broken, not followed (--follow-links)": _first(self.links),
            "kernel file systems (/proc, /sys), not read": _first(self.kernel),
            "not regular files, never read": _first(self.special),
        }
        return [f"{what}: {names}" for what, names in lines.items() if names]

    def as_record(self) -> dict[str, Any]:
        """Return the counts for JSON, and the first names of copies, links, folders and special files."""
        named = {"copies": self.copies, "links": self.links, "kernel": self.kernel, "special": self.special}
        return {"endings": dict(self.endings)} | {
            group: {"count": len(names), "first": list(names[:SHOWN])} for group, names in named.items()
        }


def _first(names: Sequence[str]) -> str:
    """Format the number of names and the first ones; "" for none."""
    more = ", …" if len(names) > SHOWN else ""
    return f"{len(names):,} ({', '.join(names[:SHOWN])}{more})" if names else ""


def on_hub(name: str) -> bool:
    """Check whether a path names rows of the Hugging Face hub."""
    return name.startswith(hub.PREFIX)


def files_at(path: str, endings: Collection[str], *, follow_links: bool) -> tuple[list[CorpusFile], LeftOut]:
    """Return the corpus files at a path, and the files left out. Raises `UnknownPath`."""
    if not path:
        raise UnknownPath("a path is empty; the current folder is called .")
    if on_hub(path):
        hub.place_of(path)
        return [CorpusFile(path)], LeftOut()
    place = Path(path)
    try:
        if place.is_file():
            root = path if is_archive(path) else str(place.parent)
            return [_opened_once(CorpusFile(path, place.stat().st_size, root=root))], LeftOut()
    except (OSError, ValueError) as error:
        raise UnknownPath(f"{path}: {getattr(error, 'strerror', None) or error}.") from None
    if not place.is_dir():
        there = "it is neither a file nor a folder" if place.exists() else "there is no such file or folder"
        raise UnknownPath(f"{path}: {there}.")
    walked = walk(place, follow_links=follow_links)
    if walked.kernel == [""]:
        raise UnknownPath(f"{path}: it is a kernel file system and cannot be indexed.")
    return _files_below(place, walked, endings)


def _files_below(folder: Path, walked: Walk, endings: Collection[str]) -> tuple[list[CorpusFile], LeftOut]:
    found = {file.name: file for file in walked.files}
    names = corpus_names(found, endings)
    files = [
        CorpusFile(
            *(str(folder / file.name), file.size, file.problem, str(folder)),
            copies=tuple(str(folder / copy) for copy in names.get(file.name, ())),
        )
        for file in (*walked.unreadable, *_each_once([found[name] for name in names]))
    ]
    copies = sorted({copy for others in names.values() for copy in others})
    not_read = sorted(found.keys() - names.keys() - {*copies})
    return [_opened_once(file) for file in files], LeftOut.of(folder, not_read, copies, walked)


def _opened_once(file: CorpusFile) -> CorpusFile:
    """Return the file, with a problem if the system cannot open it."""
    if file.problem:
        return file
    try:
        CountedFile(file.name).close()
    except OSError as error:
        return replace(file, problem=why_not_opened(file.name, error).reason)
    return file


def _each_once(files: Sequence[FoundFile]) -> Iterator[FoundFile]:
    """Yield each file once: without links to other files of the list, and without duplicate links."""
    there = {file.name for file in files if not file.target}
    for file in files:
        if file.target in there:
            continue
        if file.target:
            there.add(file.target)
        yield file


def recognise(files: Iterable[CorpusFile]) -> list[CorpusFile]:
    """Detect the formats of files; return them in format order, an archive once per format.

    The format of a file without a record is derived from its ending.

    Raises:
        UnknownFormat: some files contain passages, others papers; or no file has a known format. Among other
            files, a file or member of unknown format becomes one with a problem.
    """
    recognised = [_recognised(file) for file in files]
    seen = list(
        dict.fromkeys(filter(None, chain.from_iterable(file.formats.values() for file in recognised)))
    )
    unknown = [error for file in recognised for error in file.problems.values()]
    if unknown and not seen:
        raise unknown[0]
    _check_units(recognised)
    named = [part for file in recognised for part in _by_format(file, seen)]
    return sorted(named, key=lambda file: ORDER.index(file.format))


def _recognised(file: CorpusFile) -> CorpusFile:
    """Return a file with the formats of its streams, "" without a record; damage is reported on reading."""
    if file.problem:
        return file
    if on_hub(file.name):
        format_ = format_of_record(hub.first_record(file.name, hub.place_of(file.name)))
        return replace(file, formats={file.name: OWN_FORMAT if format_ == "csl-json" else format_})
    formats: dict[str, str] = {}
    problems: dict[str, UnknownFormat] = {}
    with closing(streams_in(file)) as streams:
        for stream in streams:
            try:
                formats[stream.name] = format_of(stream) or ""
            except UnknownFormat as error:
                problems[stream.name] = error
    return replace(file, formats=formats, problems=problems)


def _by_format(file: CorpusFile, seen: Sequence[str]) -> Iterator[CorpusFile]:
    """Yield a file for each of its formats; one for a file without content."""
    formats = {name: format_ or _likely_format(name, seen) for name, format_ in file.formats.items()}
    counts = Counter(formats.values()) or Counter([_likely_format(file.name, seen)])
    for place, format_ in enumerate(sorted(counts, key=ORDER.index)):
        share = file.size * counts[format_] // counts.total()
        yield replace(file, format=format_, formats=formats, size=share, is_first=place == 0)


def _check_units(files: Iterable[CorpusFile]) -> None:
    """Raise `UnknownFormat` if some files contain passages and others papers."""
    first: dict[bool, tuple[str, str]] = {}
    for file in files:
        for name, format_ in file.formats.items():
            if format_:
                first.setdefault(format_ in PASSAGE_FORMATS, (name, format_))
    if len(first) > 1:
        (passages, passage_format), (papers, paper_format) = first[True], first[False]
        raise UnknownFormat(
            f"{passages} is {passage_format}, {papers} is {paper_format}. An index contains one or the other",
            remedy=("name the files of one kind", Remedy.NAME_FORMAT),
        )


def _likely_format(name: str, seen: Sequence[str]) -> str:
    """Return the format of a file without records, from its ending and the formats of the others."""
    ending = ending_of(name)
    named = set() if ending in JSON_ENDINGS else {ending} - {""}
    by_ending = (format_ for format_, endings in ENDINGS_OF_FORMAT.items() if named & endings)
    beside = (format_ for format_ in seen if not ending or ending in ENDINGS_OF_FORMAT[format_])
    return next(beside, None) or next(by_ending, OWN_FORMAT)


def streams_in(file: CorpusFile) -> Generator[Stream, None, None]:
    """Yield the readable streams of a file: itself, or members of an archive."""
    try:
        opened = CountedFile(file.name)
    except OSError:
        return
    with opened:
        for stream in file.streams(opened):
            if isinstance(stream, Stream):
                yield stream
