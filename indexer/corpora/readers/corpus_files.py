"""The files of a corpus with their formats, and the files left out."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Self

from base.errors import Remedy, UnknownPath
from indexer.corpora.readers.detection import OWN_FORMAT, PASSAGE_FORMATS, format_of
from indexer.corpora.readers.folders import ENDINGS_OF_FORMAT, JSON_ENDINGS, corpus_names, ending_of, walk
from indexer.corpora.readers.hub import hub_files, on_hub
from indexer.corpora.readers.streams import CorpusFile, Damaged, Progress, Stream, open_streams, with_members
from indexer.errors import UnknownFormat

ORDER = list(ENDINGS_OF_FORMAT)  # reading order
SHOWN, SHOWN_ENDINGS = 3, 10  # names and endings in a report


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Names of files in the folders of a corpus that are not read."""

    others: tuple[str, ...] = ()  # no corpus files
    copies: tuple[str, ...] = ()  # read only if the better file is refused
    links: tuple[str, ...] = ()  # links out of the folder, or broken ones
    special: tuple[str, ...] = ()  # FIFOs, sockets and devices

    @classmethod
    def joined(cls, several: Iterable[Self]) -> Self:
        """Merge several summaries."""
        several = list(several)
        return cls(*(tuple(chain(*(getattr(one, each.name) for one in several))) for each in fields(cls)))

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
            group: {"count": len(names), "first": list(names[:SHOWN])} for group, names in named.items()
        }


def _any_ending(name: str) -> str:
    return PurePosixPath(name.removesuffix(".gz")).suffix.lower()


def _first(names: Sequence[str]) -> str:
    """Format the number of names and the first ones; "" for none."""
    more = ", …" if len(names) > SHOWN else ""
    return f"{len(names):,} ({', '.join(names[:SHOWN])}{more})" if names else ""


def files_at(path: str, endings: frozenset[str], *, follow_links: bool) -> tuple[list[CorpusFile], LeftOut]:
    """Return the corpus files at a path, with the members of archives, and the files left out.

    Raises `UnknownPath`.
    """
    if not path:
        raise UnknownPath("a path is empty; the current folder is called .")
    if on_hub(path):
        if not endings & JSON_ENDINGS:
            raise UnknownFormat(f"{path}: only JSON lines and Parquet are read from the hub")
        return [CorpusFile(name, size) for name, size in hub_files(path).items()], LeftOut()
    place = Path(path)
    try:
        is_file, size = place.is_file(), place.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        raise UnknownPath(f"{path}: there is no such file or folder.") from None
    except (OSError, ValueError) as error:
        raise UnknownPath(f"{path}: {getattr(error, 'strerror', None) or error}.") from None
    if is_file:
        return with_members(CorpusFile(path, size), endings), LeftOut()
    if not place.is_dir():
        raise UnknownPath(f"{path}: it is neither a file nor a folder.")
    found, left_out = _files_below(place, endings, follow_links=follow_links)
    return [member for file in found for member in with_members(file, endings)], left_out


def _files_below(
    folder: Path, endings: Collection[str], *, follow_links: bool
) -> tuple[list[CorpusFile], LeftOut]:
    """Return the files of a folder, each once, by its own name rather than through a link."""
    walked = walk(folder, follow_links=follow_links)
    below = {str(Path(path).relative_to(folder)): path for path in walked.files}
    names = corpus_names(below, endings)
    once: dict[Path, str] = {}
    for name in filter(names.__contains__, below):
        once.setdefault(Path(below[name]).resolve(), name)
    wanted = set(once.values())

    def file(name: str) -> CorpusFile:
        return CorpusFile(below[name], walked.files[below[name]], root=str(folder))

    found = [CorpusFile(path, problem=problem) for path, problem in sorted(walked.unreadable.items())]
    found += [
        replace(file(name), copies=tuple(map(file, copies)))
        for name, copies in names.items()
        if name in wanted
    ]
    copies = sorted(below[name] for name in chain.from_iterable(names.values()))
    others = sorted(below[name] for name in below.keys() - names.keys() - {*chain(*names.values())})
    return found, LeftOut(*map(tuple, (others, copies, sorted(walked.links), sorted(walked.special))))


def recognise(files: Sequence[CorpusFile]) -> list[CorpusFile]:
    """Detect the formats of files; return them in format order.

    A file without a record has the format of its ending. Files of one folder of the hub have one format.

    Raises:
        UnknownFormat: some files contain passages, others papers; or no file has a known format. Among other
            files, a file of unknown format becomes one with a problem.
    """
    found = {file.name: file for file in files}
    unknown: list[UnknownFormat] = []
    of_hub = ""
    for file, stream in open_streams(files, Progress()):
        format_, problem = "", stream if isinstance(stream, str) else ""
        try:
            if isinstance(stream, Stream):
                format_ = (on_hub(file.path) and of_hub) or format_of(stream) or ""
        except Damaged as damage:
            problem = str(damage)
        except UnknownFormat as error:
            problem = str(error)
            unknown.append(error)
        of_hub = format_ if on_hub(file.path) else of_hub
        found[file.name] = replace(file, format=format_, problem=problem)
    if unknown and not any(file.format for file in found.values()):
        raise unknown[0]
    seen: dict[str, CorpusFile] = {}
    for file in found.values():
        if file.format:
            seen.setdefault(file.format, file)
    _check_units(seen)
    named = [replace(file, format=file.format or _likely_format(file.name, seen)) for file in found.values()]
    return sorted(named, key=lambda file: ORDER.index(file.format))


def _check_units(seen: dict[str, CorpusFile]) -> None:
    """Raise `UnknownFormat` if some files contain passages and others papers."""
    passages = next((file for name, file in seen.items() if name in PASSAGE_FORMATS), None)
    papers = next((file for name, file in seen.items() if name not in PASSAGE_FORMATS), None)
    if passages and papers:
        raise UnknownFormat(
            f"{passages.name} is {passages.format}, {papers.name} is {papers.format}. "
            "An index contains one or the other",
            remedy=("name the files of one kind", Remedy.NAME_FORMAT),
        )


def _likely_format(name: str, seen: Collection[str]) -> str:
    """Return the format of a file without records, from its ending and the formats of the others."""
    ending = ending_of(name)
    possible = [format_ for format_, endings in ENDINGS_OF_FORMAT.items() if ending in endings]
    beside = (format_ for format_ in seen if not ending or format_ in possible)
    by_ending = [OWN_FORMAT] if ending in JSON_ENDINGS else possible
    return next(beside, next(reversed(by_ending), OWN_FORMAT))
