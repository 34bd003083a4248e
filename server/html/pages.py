"""Pages filled from templates, in the language and colours of their reader: chosen, else from the browser."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from fastapi.responses import HTMLResponse
from starlette.requests import Request

from base.markup import Markup, element, html
from server.html.page_files import LANGUAGES, Language, page_files

THEMES = ("auto", "light", "dark")
MOST_CHARACTERS = 1_000  # of Accept-Language


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


CHECKED = "no-cache"  # a browser may store the page, and asks whether it is current
WAIT_S = 5  # if a problem names no time


def page_in(reader: Reader, template: str, places: dict[str, str], status: int = 200) -> HTMLResponse:
    """Fill a template in the language and colours of a reader."""
    files = page_files()
    shared = {
        "base": files.base,
        "lang": reader.language,
        "theme": reader.theme,
        "is_ko": str(reader.language == "ko").lower(),
        "is_en": str(reader.language == "en").lower(),
    }
    headers = {
        "Cache-Control": CHECKED,
        "Content-Language": reader.language,
        "Vary": "Accept-Language, Cookie",
    }
    return HTMLResponse(files.filled(template, reader.language, shared | places), status, headers)


def failed_page(reader: Reader, described: Mapping[str, Any]) -> HTMLResponse:
    """Return a page with a problem in words for readers, its details folded, and a link to the first page."""
    words = page_files().words[reader.language]
    seconds = ceil(described.get("retry_after_s", WAIT_S))
    said = words.get(f"problem_{described['code']}", words["problem"]).replace("{seconds}", str(seconds))
    detail = element(
        "details",
        {"class": "quiet"},
        element("summary", None, words["for_operator"]),
        element("p", {"lang": "en"}, described["detail"]),
    )
    places = {"title": "SHRAG", "question": "", "index_name": "", "head": script()}
    back = element("p", None, element("a", {"href": "/"}, words["back_to_search"]))
    body = {"body": html(element("h1", None, said), detail, back)}
    page = page_in(reader, "paper.html", places | body, described["status"])
    if "retry_after_s" in described:
        page.headers["Retry-After"] = str(max(1, seconds))
    return page


def script() -> Markup:
    """Return the script element of pages that are complete without it."""
    return element("script", {"type": "module", "src": f"{page_files().base}/paper.js"})
