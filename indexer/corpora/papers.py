"""Paper and Passage: the records of the whole stack, validated once where they enter."""

import json
import re
import unicodedata
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from base.letters import HANGUL, LATIN

Language = Literal["ko", "en", "other"]
Unit = Literal["passage", "paper"]

IDENTIFIER_CHARACTERS = 512
INDEXED_CHARACTERS = 1_000_000
FIRST_YEAR, LAST_YEAR = 1000, 2100
MOST_CITATIONS = 10**12  # of a paper; JSON may hold any number of digits, with which nothing can be computed
FORBIDDEN_IN_IDENTIFIERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")

# A Korean abstract is full of Latin terms; an English one has hardly ever a Hangul name.
KOREAN_SHARE = 0.2


def _identifier(value: str) -> str:
    if (
        value.isascii()
        and value.isprintable()
        and " " not in value
        and 0 < len(value) <= IDENTIFIER_CHARACTERS
    ):
        return value  # a paper may have thousands, of its references
    value = unicodedata.normalize("NFC", value)
    if not 1 <= len(value) <= IDENTIFIER_CHARACTERS:
        raise ValueError(f"an id has 1 to {IDENTIFIER_CHARACTERS} characters, this one {len(value)}")
    if FORBIDDEN_IN_IDENTIFIERS.search(value):
        raise ValueError("an id has no white space and no control characters")
    return value


def _encodable(value: str) -> str:
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"a lone surrogate at character {error.start}") from None
    return value


Text = Annotated[str, AfterValidator(_encodable)]
Identifier = Annotated[Text, AfterValidator(_identifier)]


def _or(name: str, *aliases: str) -> Any:
    """Make a field that is absent unless given, under its name or an alias; the first present one counts."""
    return Field(default=None, validation_alias=AliasChoices(name, *aliases))


class Origin(NamedTuple):
    """Where a record was read: file, line from 1, and the bytes that it begins with."""

    file: str = ""
    line: int = 0
    head: bytes = b""


class Paper(BaseModel):
    """One record of a corpus. What a record does not have is None here and absent in its JSON.

    Keys that are not known are kept in `model_extra`; a reader gives the `Origin` as validation's context.
    Raises pydantic's `ValidationError`; `why_invalid` makes one line of it.
    """

    # Built when the first record is read: a search needs none.
    model_config = ConfigDict(frozen=True, extra="allow", strict=True, defer_build=True)

    id: Identifier = Field(validation_alias=AliasChoices("id", "_id", "docid"))
    title: Text = ""
    abstract: Text = Field(default="", validation_alias=AliasChoices("abstract", "text", "contents"))
    title2: Text = ""
    abstract2: Text = ""
    lang: Language = Field(default="other", validation_alias=AliasChoices("lang", "language"))
    authors: list[Text] = []
    year: int | None = Field(default=None, ge=FIRST_YEAR, le=LAST_YEAR)
    journal: Text = ""
    publisher: Text = ""
    keywords: list[Text] = []
    doi: Text = ""
    url: Text = ""
    source: Text = ""
    references: list[Identifier] = []
    cited_by_count: int | None = Field(default=None, ge=0, le=MOST_CITATIONS)
    body: Text = ""
    _origin: Origin = PrivateAttr(Origin())

    @property
    def origin(self) -> Origin:
        """Where it was read."""
        return self._origin

    @model_validator(mode="before")
    @classmethod
    def _tell_language(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "lang" in data or "language" in data:
            return data
        values = (data.get(key) for key in ("title", "abstract", "text", "contents"))
        text = " ".join(value for value in values if isinstance(value, str))
        return data | {"lang": language_of(text)}

    @model_validator(mode="after")
    def _keep_only_what_can_be_stored(self, info: ValidationInfo) -> "Paper":
        self._origin = info.context or Origin()
        if self.model_extra:
            _encodable(json.dumps(self.model_extra, ensure_ascii=False))
        return self

    def record(self) -> dict[str, Any]:
        """Return the record as JSON keys, what is absent left out and the body with it."""
        return self.model_dump(exclude_unset=True, exclude={"body"})


def language_of(text: str) -> Language:
    """Tell the language of `text` by its script: its first 2,000 characters decide."""
    head = unicodedata.normalize("NFC", text[:2000])
    hangul, latin = len(HANGUL.findall(head)), len(LATIN.findall(head))
    if hangul > KOREAN_SHARE * (hangul + latin):
        return "ko"
    return "en" if latin else "other"


def why_invalid(error: ValidationError) -> str:
    """Say in one line what is wrong with a record: the first complaint, and where."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message
