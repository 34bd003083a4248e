"""What commands print: text of which nothing steers a terminal, and JSON.

All of it goes through `echo` and `echo_json`: a title, a file's name or a server's message is text there,
never a control sequence, a line of its own or markup.
"""

import json
import re
import sys
from collections.abc import Iterable
from typing import Any

import click

# What a terminal obeys: controls, line and paragraph separators, the marks of direction (UAX #9); and lone
# surrogates. Joiners (U+200C, U+200D) and combining marks are part of words and stay.
STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
STEERING_IN_JSON = re.compile(STEERING.pattern.replace(r"\x00-\x1f", ""))  # those JSON escapes itself


LONGEST_SHOWN = 300  # characters of a title, a journal, a name: a record may hold any number


class Styled(str):
    """Text that `styled` has made visible and coloured."""

    __slots__ = ()


def visible(text: str) -> str:
    r"""Return text on one line that steers no terminal: white space as spaces, the rest as \x1b, \u202e."""
    return STEERING.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    return " " if character.isspace() else ascii(character)[1:-1]


def shortened(text: str, most: int = LONGEST_SHOWN) -> str:
    """Return at most so many characters of a text, with … where it goes on; `--json` has all of it."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def styled(text: str, **style: Any) -> Styled:
    """Return visible text in a style of click's, which is left out where no person looks."""
    return Styled(click.style(visible(text), **style))


def echo(*parts: str, err: bool = False) -> None:
    """Print one line to standard output, or error: the parts one behind the other, each made visible."""
    line = "".join(part if isinstance(part, Styled) else visible(part) for part in parts)
    click.echo(line, file=sys.stderr if err else sys.stdout)


def echo_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Print lines to standard output, or error, each made visible."""
    for line in lines:
        echo(line, err=err)


def echo_json(record: Any, *, err: bool = False) -> None:
    """Print one JSON object on a line; in ASCII where the stream is not in a form of Unicode."""
    stream = sys.stderr if err else sys.stdout
    unicode = (stream.encoding or "utf-8").lower().startswith("utf")
    click.echo(json_text(record) if unicode else json.dumps(record), file=stream)


def json_text(record: Any, **options: Any) -> str:
    """Return JSON as people read it; what would steer a terminal is escaped, as controls are in all JSON."""
    return escaped_json(json.dumps(record, ensure_ascii=False, **options))


def escaped_json(text: str) -> str:
    r"""Return the same JSON with DEL, C1 controls, separators and marks of direction as \u escapes."""
    return STEERING_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
