"""Pages from templates, in the language and colours of their reader, and the files of the page."""

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import quote

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader
from starlette.requests import Request

from base.notes import TEMPLATES
from indexer.corpora.papers import language_of
from retriever.papers.embedded_metadata import citation_tags, coins
from retriever.reference import one_line
from server.addresses import paper_address

Language: TypeAlias = Literal["ko", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

FOLDER = Path(__file__).with_name("page")
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
IMPORT = re.compile(r'^import .*? from "\./([\w-]+\.js)";$', re.MULTILINE)
ACCEPTED = re.compile(r"(?:^|,)\s*(ko|en)(?:-[\w-]*)?\s*(?:;\s*q=([01](?:\.\d*)?))?\s*(?=,|$)")
THEMES = ("auto", "light", "dark")
MOST_CHARACTERS = 1_000  # of Accept-Language
CHECKED = "no-cache"  # a browser may store the page, and asks whether it is current
WAIT_S = 5  # if a problem names no time


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
                for part in ("", "find.", "pages.")
                for key, word in json.loads(contents[f"words/{part}{language}.json"]).items()
            }
            for language in LANGUAGES
        },
    )


@dataclass(frozen=True, slots=True)
class Reader:
    """Language and colours of the pages for a reader."""

    language: Language
    theme: str

    @classmethod
    def of(cls, request: Request) -> "Reader":
        """Read the reader's choices; `?hl=` in the address takes precedence."""
        chosen = request.query_params.get("hl") or request.cookies.get("shrag-language")
        theme = request.cookies.get("shrag-theme", "")
        language = next((each for each in LANGUAGES if each == chosen), None)
        accepted = request.headers.get("accept-language", "")
        return cls(language or accepted_language(accepted), theme if theme in THEMES else THEMES[0])

    @property
    def words(self) -> Mapping[str, str]:
        """The texts of the pages in the reader's language."""
        return page_files().words[self.language]


def accepted_language(header: str) -> Language:
    """Return the page language that an Accept-Language header (RFC 9110, 12.5.4) prefers."""
    found = ACCEPTED.findall(header[:MOST_CHARACTERS].lower())
    qualities = {name: float(quality or 1) for name, quality in reversed(found)}
    return "ko" if qualities.get("ko", 0) > qualities.get("en", 0) else "en"


def rendered(template: str, **values: Any) -> str:
    """Fill a template of `server/templates/`; all values are escaped."""
    return _environment().get_template(template).render(values)


def page_in(
    reader: Reader, template: str, status: int = 200, *, title: str = "SHRAG", **values: Any
) -> HTMLResponse:
    """Return a page in the language and colours of a reader; its template can name every word."""
    shared = {"base": page_files().base, "lang": reader.language, "theme": reader.theme, "scripts": ()}
    page = rendered(template, **{**reader.words, "words": reader.words, "title": title, **shared, **values})
    headers = {
        "Cache-Control": CHECKED,
        "Content-Language": reader.language,
        "Vary": "Accept-Language, Cookie",
    }
    return HTMLResponse(page, status, headers)


def failed_page(reader: Reader, problem: Mapping[str, Any], headers: Mapping[str, str]) -> HTMLResponse:
    """Return a page with a problem in words for readers, its details folded, and a link to the first page."""
    seconds = ceil(problem.get("retry_after_s", WAIT_S))
    said = reader.words.get(f"problem_{problem['code']}", reader.words["problem"])
    page = page_in(
        *(reader, "problem.html", problem["status"]),
        said=said.replace("{seconds}", str(seconds)),
        detail=problem["detail"],
        question="",
        index_name="",
    )
    page.headers.update(headers)
    return page


def lang_of(text: str, given: str | None = None) -> str:
    """Return a text's language for `lang`: as its record states, else by its script."""
    language = given or language_of(text)
    return language if language != "other" else "und"


def byline(record: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Format authors, year, journal, language, duplicates, and papers of the same DOI on a line."""
    authors = [str(author) for author in record.get("authors") or ()]
    language = words.get(f"lang_{record.get('lang')}", "") if record.get("lang") in {"ko", "en"} else ""
    parts = [", ".join(authors), str(record.get("year") or ""), str(record.get("journal") or ""), language]
    if record.get("title_only"):
        parts.append(words["title_only"])
    if folded := record.get("folded"):
        parts.append(words["folded"].replace("{n}", str(folded)))
    if others := record.get("same_doi"):
        parts.append(words["same_doi"].replace("{names}", ", ".join(others)))
    return " · ".join(part for part in parts if part)


def _text(value: Any) -> str:
    """Return a value of a record as text, with the names of its parts."""
    match value:
        case str():
            return value
        case dict():
            return "; ".join(f"{name}: {_text(part)}" for name, part in value.items())
        case list():
            return ", ".join(map(_text, value))
    return json.dumps(value, ensure_ascii=False)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "byline": byline,
        "citation_tags": citation_tags,
        "coins": coins,
        "lang_of": lang_of,
        "line": one_line,
        "lines": lambda text: "\n".join(map(one_line, text.split("\n"))),
        "paper_address": paper_address,
        "quote": lambda text: quote(text, safe=""),
        "text": _text,
    }
    return made
