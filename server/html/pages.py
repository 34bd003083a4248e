"""Pages from templates, in the language and colours of their reader: chosen, else from the browser."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, Undefined
from starlette.requests import Request

from indexer.corpora.papers import language_of
from retriever.papers.embedded_metadata import citation_tags, coins
from retriever.reference import one_line
from server.addresses import paper_address
from server.html.page_files import LANGUAGES, Language, page_files

THEMES = ("auto", "light", "dark")
TEMPLATES = Path(__file__).parents[1] / "templates"
MOST_CHARACTERS = 1_000  # of Accept-Language
CHECKED = "no-cache"  # a browser may store the page, and asks whether it is current
WAIT_S = 5  # if a problem names no time


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
    best: Language = "en"
    highest = 0.0
    for part in header[:MOST_CHARACTERS].split(","):
        name, _, parameter = part.strip().partition(";")
        quality = _quality(parameter)
        for language in LANGUAGES:
            if name.lower().split("-")[0] == language and quality > highest:
                best, highest = language, quality
    return best


def _quality(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    try:
        return min(max(float(value), 0.0), 1.0) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


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


def _lines(text: str) -> str:
    return "\n".join(map(one_line, text.split("\n")))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _Missing(Undefined):
    """An unknown name: false in a condition, an error where it is printed."""

    __str__ = Undefined._fail_with_undefined_error  # noqa: SLF001 - as StrictUndefined does


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=_Missing,
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
        "lines": _lines,
        "paper_address": paper_address,
        "quote": lambda text: quote(text, safe=""),
        "text": _text,
    }
    return made
