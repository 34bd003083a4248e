"""A reader's language and colours: chosen, else from the browser."""

from dataclasses import dataclass

from starlette.requests import Request

from server.html.page_files import LANGUAGES, Language

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
