"""The files of the page, read once; their addresses contain a hash of all files, so they can be cached."""

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from base.notes import TEMPLATES

Language: TypeAlias = Literal["ko", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

FOLDER = Path(__file__).parents[1] / "page"
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
IMPORT = re.compile(r'^import .*? from "\./([\w-]+\.js)";$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file as it is sent, also gzipped."""

    content: bytes
    packed: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class PageFiles:
    """Files for the browser by path, and texts of the pages rendered here."""

    version: str
    files: Mapping[str, PageFile]
    words: Mapping[Language, Mapping[str, str]]

    @property
    def base(self) -> str:
        """The address of the files, without a slash at the end."""
        return f"/page/{self.version}"

    def modules(self, *scripts: str) -> list[str]:
        """Return scripts and the modules that they import, for loading in parallel."""
        found = list(scripts)
        for name in found:
            found += [each for each in IMPORT.findall(self.files[name].content.decode()) if each not in found]
        return sorted(found)


@cache
def page_files() -> PageFiles:
    """Read the files of the page."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    contents = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in paths}
    contents["words/notes.ko.json"] = TEMPLATES["ko"].read_bytes()
    version = sha256(repr(sorted(contents.items())).encode()).hexdigest()[:16]
    return PageFiles(
        version,
        {
            name: PageFile(content, gzip.compress(content, mtime=0), MEDIA_TYPES[Path(name).suffix])
            for name, content in contents.items()
            if Path(name).suffix in MEDIA_TYPES
        },
        {
            language: {
                key: word
                for part in ("", "find.", "pages.", "problems.")
                for key, word in json.loads(contents[f"words/{part}{language}.json"]).items()
            }
            for language in LANGUAGES
        },
    )
