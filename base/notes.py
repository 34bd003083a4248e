"""Notes: sentences for a reader, each made from a code and values by the template of a language.

A note is text, its English sentence, so exceptions, logs, lists and JSON hold it as such. Code and values
stay with it until it becomes JSON, where `note_codes` beside `notes` has them for other languages:

    {"notes": ["1 of 9 hits mentions rice"],
     "note_codes": [{"code": "about_excluded_one", "values": {"shown": 9, "excluded": "rice"}}]}

The templates are `notes.en.json` and `notes.ko.json`, in the syntax of `str.format`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, PlainSerializer, ValidatorFunctionWrapHandler, WrapValidator
from typing_extensions import TypedDict

NoteLanguage: TypeAlias = Literal["en", "ko"]
TEMPLATES: Mapping[NoteLanguage, Path] = {
    "en": Path(__file__).with_name("notes.en.json"),
    "ko": Path(__file__).with_name("notes.ko.json"),
}


class NoteCode(TypedDict):
    """Code and values of a note."""

    code: str
    values: dict[str, str | int | float]


# Beside `notes` in JSON.
NoteCodes: TypeAlias = Annotated[
    list[NoteCode | None],
    Field(description="code and values of each note; null for a text without them, such as one of a model"),
]


@cache
def templates(language: NoteLanguage) -> Mapping[str, str]:
    """Return the templates of a language by code."""
    found: dict[str, str] = json.loads(TEMPLATES[language].read_text("utf-8"))
    return found


class Note(str):
    """A note; its text is the English sentence."""

    code: str
    values: Mapping[str, str | int | float]

    def __new__(cls, code: str, /, **values: str | int | float) -> Self:
        """Fill the English template of a code."""
        note = super().__new__(cls, templates("en")[code].format_map(values))
        note.code, note.values = code, values
        return note

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str | int | float]]:
        """Return the arguments of a copy."""
        return (self.code,), dict(self.values)

    def as_code(self) -> NoteCode:
        """Return code and values as JSON."""
        return {"code": self.code, "values": dict(self.values)}

    def in_language(self, language: NoteLanguage) -> str:
        """Return the sentence in a language."""
        return templates(language)[self.code].format_map(self.values)


def note_code(text: str) -> NoteCode | None:
    """Return code and values of a note; None for a text without them, such as one of a language model."""
    return text.as_code() if isinstance(text, Note) else None


def note_codes(notes: Iterable[str]) -> list[NoteCode | None]:
    """Return code and values of notes, in their order."""
    return [note_code(note) for note in notes]


def with_codes(notes: Sequence[str], codes: Sequence[NoteCode | None]) -> list[str]:
    """Return the notes of a JSON record as notes; a text without a code stays as it is."""
    return [
        Note(code["code"], **code["values"]) if code else text
        for text, code in zip(notes, codes, strict=True)
    ]


def note_in(error: BaseException, otherwise: str | None = None) -> str:
    """Return the note that an error was made of; without one `otherwise`, by default the error's message."""
    message = error.args[0] if error.args else ""
    if isinstance(message, Note):
        return message
    return str(error) if otherwise is None else otherwise


def _from_json(value: Any, text: ValidatorFunctionWrapHandler) -> Any:
    if isinstance(value, Mapping):
        return Note(value["code"], **value["values"])
    return value if isinstance(value, Note) else text(value)


# A text that saved JSON holds as code and values if it is a note.
SavedNote = Annotated[
    str,
    WrapValidator(_from_json),
    PlainSerializer(lambda text: note_code(text) or str(text), return_type=Any),
]
