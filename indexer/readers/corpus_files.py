"""The files of a corpus with their formats, and what lies beside them and is not read."""

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.errors import Remedy, UnknownFormat, UnknownPath
from indexer.readers import hub
from indexer.readers.detection import (
    FORMAT_OF_ENDINGS,
    OWN_FORMAT,
    PASSAGE_FORMATS,
    format_of,
    format_of_record,
)
from indexer.readers.folders import ENDINGS_OF_FORMAT, corpus_names, ending_of, is_archive
from indexer.readers.streams import CountedFile, Stream, open_streams
from indexer.readers.walking import FoundFile, walk

SHOWN, SHOWN_ENDINGS = 3, 10  # names and endings in a report


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file, a zip archive or a path of the hub. `problem` is the reason why it cannot be read."""

    name: str
    size: int = 0
    problem: str = ""
    root: str = ""  # the folder or archive of the corpus that it is, or lies in
    format: str = ""  # "" until it is recognised
    formats: Mapping[str, str] = field(default_factory=dict)  # of an archive's members, by stream name


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What lies in the folders of a corpus and is not read."""

    endings: Counter[str] = field(default_factory=Counter)  # files by ending, "" without one
    first: dict[str, str] = field(default_factory=dict)  # a file of each ending
    links: list[str] = field(default_factory=list)  # out of the folder, or to nothing
    kernel: list[str] = field(default_factory=list)  # in file systems of the kernel

    def add_file(self, name: str) -> None:
        """Count a file by its ending."""
        ending = PurePosixPath(name.removesuffix(".gz")).suffix.lower()
        self.endings[ending] += 1
        self.first.setdefault(ending, name)

    def described(self) -> list[str]:
        """Return a line each for the files, links and folders that were left out."""
        files = [
            f"{count:,} {ending or 'without ending'} ({self.first[ending]})"
            for ending, count in self.endings.most_common()
        ]
        lines = {
            "not read": ", ".join(files[:SHOWN_ENDINGS]) + (", …" if len(files) > SHOWN_ENDINGS else ""),
            "links out of the folder or to nothing, not followed (--follow-links)": _first(self.links),
            "of the kernel, never read": _first(self.kernel),
        }
        return [f"{what}: {names}" for what, names in lines.items() if names]

    def as_record(self) -> dict[str, Any]:
        """Return the counts for JSON, and the first names of links and folders."""
        return {
            "endings": dict(self.endings),
            "links": {"count": len(self.links), "first": self.links[:SHOWN]},
            "kernel": {"count": len(self.kernel), "first": self.kernel[:SHOWN]},
        }


def _first(names: Sequence[str]) -> str:
    """Return the number of names and the first of them; "" without any."""
    more = ", …" if len(names) > SHOWN else ""
    return f"{len(names):,} ({', '.join(names[:SHOWN])}{more})" if names else ""


def on_hub(name: str) -> bool:
    """Check for a path that names rows of the Hugging Face hub."""
    return name.startswith(hub.PREFIX)


def files_at(
    path: str, endings: Collection[str] | None, left_out: LeftOut, *, follow_links: bool
) -> list[CorpusFile]:
    """Return the files of a corpus at a path, and add to `left_out` what lies beside them.

    Raises `UnknownPath`.
    """
    if not path:
        raise UnknownPath("a path is empty; the current folder is called .")
    if on_hub(path):
        hub.place_of(path)
        return [CorpusFile(path)]
    place = Path(path)
    try:
        if place.is_file():
            return [
                CorpusFile(path, place.stat().st_size, root=path if is_archive(path) else str(place.parent))
            ]
    except (OSError, ValueError) as error:
        raise UnknownPath(f"{path}: {getattr(error, 'strerror', None) or error}.") from None
    if not place.is_dir():
        there = "it is neither a file nor a folder" if place.exists() else "there is no such file or folder"
        raise UnknownPath(f"{path}: {there}.")
    walked = walk(place, follow_links=follow_links)
    if walked.kernel == [""]:
        raise UnknownPath(f"{path}: a file system of the kernel is no corpus.")
    left_out.links.extend(str(place / name) for name in walked.links)
    left_out.kernel.extend(str(place / name) for name in walked.kernel)
    found = {file.name: file for file in walked.files}
    chosen = [found[name] for name in corpus_names(found, endings)]
    for name in sorted(found.keys() - {file.name for file in chosen}):
        left_out.add_file(name)
    return [
        CorpusFile(str(place / file.name), file.size, file.problem, root=str(place))
        for file in (*walked.unreadable, *_each_once(chosen))
    ]


def _each_once(files: Sequence[FoundFile]) -> Iterator[FoundFile]:
    """Yield the files without links to files that are among them, and without second links to one file."""
    there = {file.name for file in files if not file.target}
    for file in files:
        if file.target in there:
            continue
        if file.target:
            there.add(file.target)
        yield file


def recognise(files: Iterable[CorpusFile]) -> list[CorpusFile]:
    """Return the files with the format of each, in the order of the formats.

    A file without a record takes the format that its ending allows.

    Raises:
        UnknownFormat: some files hold passages, others papers; or no file has a known format. Beside others
            a file of no known format is a file with a problem.
    """
    recognised: list[CorpusFile] = []
    unknown: UnknownFormat | None = None
    for file in files:
        try:
            formats = dict(_formats_in(file))
        except UnknownFormat as error:
            unknown = unknown or error
            recognised.append(replace(file, problem=str(error)))
            continue
        format_ = next(iter(formats.values()), "")
        recognised.append(replace(file, format=format_, formats=formats if is_archive(file.name) else {}))
    seen = dict.fromkeys(file.format for file in recognised if file.format)
    if unknown and not seen:
        raise unknown
    _check_units(recognised)
    named = [replace(file, format=file.format or _likely_format(file, list(seen))) for file in recognised]
    order = list(ENDINGS_OF_FORMAT)
    return sorted(named, key=lambda file: order.index(file.format))


def _formats_in(file: CorpusFile) -> Iterator[tuple[str, str]]:
    """Yield (stream, format) of what a file holds and can be recognised; damage shows when it is read."""
    if file.problem:
        return
    if on_hub(file.name):
        yield file.name, format_of_record(hub.first_record(file.name, hub.place_of(file.name)))
        return
    with closing(streams_in(file)) as streams:
        for stream in streams:
            if found := format_of(stream):
                yield stream.name, found


def _check_units(files: Iterable[CorpusFile]) -> None:
    """Raise `UnknownFormat` if some files hold passages and others papers."""
    first: dict[bool, tuple[str, str]] = {}
    for file in files:
        for name, format_ in file.formats.items() or [(file.name, file.format)]:
            if format_:
                first.setdefault(format_ in PASSAGE_FORMATS, (name, format_))
    if len(first) > 1:
        (passages, passage_format), (papers, paper_format) = first[True], first[False]
        raise UnknownFormat(
            f"{passages} is {passage_format}, {papers} is {paper_format}. An index holds passages or papers",
            remedy=("name the files of one", Remedy.NAME_FORMAT),
        )


def _likely_format(file: CorpusFile, seen: Sequence[str]) -> str:
    """Return the format of a file that holds no record, from its ending and the formats of the others."""
    ending = "" if file.problem else ending_of(file.name)
    by_ending = (format_ for format_, endings in FORMAT_OF_ENDINGS.items() if ending in endings)
    beside = (format_ for format_ in seen if not ending or ending in ENDINGS_OF_FORMAT[format_])
    return next(by_ending, None) or next(beside, OWN_FORMAT)


def streams_in(file: CorpusFile) -> Generator[Stream, None, None]:
    """Yield the streams of a file that can be opened: itself, or the members of an archive."""
    try:
        opened = CountedFile(file.name)
    except OSError:
        return
    with opened:
        for stream in open_streams(opened, file.name, None):
            if isinstance(stream, Stream):
                yield stream
