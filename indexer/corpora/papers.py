"""The record type of the whole stack, validated once on input."""

import json
import re
import unicodedata
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
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
MOST_CITATIONS = 10**12  # limit of a paper's citations; JSON allows any number of digits
FORBIDDEN_IN_IDENTIFIERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")

LANGUAGES: dict[str, Language] = {
    **dict.fromkeys(("ko", "kor", "korean", "ko-kr", "한국어", "국문", "한글"), "ko"),
    **dict.fromkeys(("en", "eng", "english", "en-us", "en-gb", "영어", "영문"), "en"),
    "other": "other",
}
# Korean abstracts contain many Latin terms; English ones hardly ever a Hangul name.
KOREAN_SHARE = 0.2
# Least share of words with Hangul in a Korean question; words in brackets are often an original name.
KOREAN_WORDS, BRACKETED = 0.25, re.compile(r"\([^()]*\)")


def _identifier(value: str) -> str:
    if (
        value.isascii()
        and value.isprintable()
        and " " not in value
        and 0 < len(value) <= IDENTIFIER_CHARACTERS
    ):
        return value  # fast path: a paper may have thousands of references
    value = unicodedata.normalize("NFC", value)
    if not 1 <= len(value) <= IDENTIFIER_CHARACTERS:
        raise ValueError(
            f"an id must have 1 to {IDENTIFIER_CHARACTERS} characters, this one has {len(value)}"
        )
    if FORBIDDEN_IN_IDENTIFIERS.search(value):
        raise ValueError("an id cannot contain white space or control characters")
    return value


def _encodable(value: str) -> str:
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"a lone surrogate at character {error.start}") from None
    return value


def _whole(value: Any) -> Any:
    """Return the whole number of a text of digits, or of a float such as 2019.0."""
    if isinstance(value, str):
        return int(value) if value.strip().isdecimal() else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, AfterValidator(_encodable)]
Identifier = Annotated[Text, AfterValidator(_identifier)]
Whole = Annotated[int | None, BeforeValidator(_whole)]


class Origin(NamedTuple):
    """Source of a record: file, line from 1, and its first bytes."""

    file: str = ""
    line: int = 0
    head: bytes = b""


class Paper(BaseModel):
    """A record of a corpus. Missing values are None, and absent in its JSON.

    Unknown keys are kept in `model_extra`; readers pass the `Origin` as validation context.
    Raises pydantic's `ValidationError`; `why_invalid` formats it in one line.
    """

    # Built with the first record, as a search does not need it.
    model_config = ConfigDict(frozen=True, extra="allow", strict=True, defer_build=True)

    id: Identifier = Field(validation_alias=AliasChoices("id", "_id", "docid"))
    title: Text = ""
    abstract: Text = Field(default="", validation_alias=AliasChoices("abstract", "text", "contents"))
    title2: Text = ""
    abstract2: Text = ""
    lang: Language = Field(default="other", validation_alias=AliasChoices("lang", "language"))
    authors: list[Text] = []
    year: Whole = Field(default=None, ge=FIRST_YEAR, le=LAST_YEAR)
    journal: Text = ""
    publisher: Text = ""
    keywords: list[Text] = []
    doi: Text = ""
    url: Text = ""
    source: Text = ""
    references: list[Identifier] = []
    cited_by_count: Whole = Field(default=None, ge=0, le=MOST_CITATIONS)
    body: Text = ""
    _origin: Origin = PrivateAttr(Origin())

    @property
    def origin(self) -> Origin:
        """The source of the record."""
        return self._origin

    @model_validator(mode="before")
    @classmethod
    def _detect_language(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "lang" in data or "language" in data:
            return data
        values = (data.get(key) for key in ("title", "abstract", "text", "contents"))
        text = " ".join(value for value in values if isinstance(value, str))
        return data | {"lang": language_of(text)}

    @model_validator(mode="after")
    def _check_storable(self, info: ValidationInfo) -> "Paper":
        self._origin = info.context or Origin()
        if self.model_extra:
            _encodable(json.dumps(self.model_extra, ensure_ascii=False))
        return self

    def record(self) -> dict[str, Any]:
        """Return the record with JSON keys, without absent values and the body."""
        return self.model_dump(exclude_unset=True, exclude={"body"})


def language_of(text: str) -> Language:
    """Detect the language of `text` by the script of its first 2,000 characters."""
    head = unicodedata.normalize("NFC", text[:2000])
    hangul, latin = len(HANGUL.findall(head)), len(LATIN.findall(head))
    if hangul > KOREAN_SHARE * (hangul + latin):
        return "ko"
    return "en" if latin else "other"


def language_of_question(text: str) -> Language:
    """Detect the language of a question: Korean if a quarter of its words outside brackets have Hangul.

    `hard carbon 음극의 capacity` consists of English terms, and is Korean; `Changma (장마) rain` is English.
    """
    words = BRACKETED.sub(" ", unicodedata.normalize("NFC", text)).split()
    korean = sum(bool(HANGUL.search(word)) for word in words)
    if not korean:
        return language_of(text)
    english = sum(bool(LATIN.search(word)) and not HANGUL.search(word) for word in words)
    return "ko" if korean >= KOREAN_WORDS * (korean + english) else "en"


def language_named(name: str) -> Language | None:
    """Return the language of a name or code, None if it is unknown."""
    return LANGUAGES.get(name.strip().lower())


def why_invalid(error: ValidationError) -> str:
    """Describe the first validation error of a record in one line, with its location."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    is_null = first["input"] is None and first["type"] != "missing"
    message = (
        "null; leave the key out if it has no value"
        if is_null
        else first["msg"].removeprefix("Value error, ")
    )
    return f"{where}: {message}" if where else message
