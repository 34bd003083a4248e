"""Settings of a foreign Elasticsearch or OpenSearch index."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from indexer.corpora.papers import Language
from indexer.settings import BaseUrl, ElasticsearchServer
from retriever.sources.settings import SourceSettings

FIELD = re.compile(r"[^\s*^\x00-\x1f]{1,256}")
INDEX = re.compile(r"[^\s/\\?\"<>|#\x00-\x1f]{1,1000}")
MOST_FIELDS = 20  # per role
LEEWAY_S = 1.0  # for parsing answers
YearType = Literal["number", "date", "text"]


def _weighted(value: object) -> object:
    """Return fields with their weights; "title" and ["title", "subtitle"] weigh 1 each."""
    if isinstance(value, str):
        value = [value] if value else []
    return dict.fromkeys(value, 1.0) if isinstance(value, list) and all(map(_is_text, value)) else value


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _field(value: Any) -> Any:
    if isinstance(value, str) and value and not FIELD.fullmatch(value):
        raise ValueError("is not the name of a field: names have no white space, * or ^")
    return value


FieldName = Annotated[str, BeforeValidator(_field)]
WeightedFields = Annotated[
    dict[Annotated[FieldName, Field(min_length=1)], Annotated[float, Field(gt=0, le=1000)]],
    BeforeValidator(_weighted),
    Field(max_length=MOST_FIELDS),
]


class IndexFields(BaseModel):
    """The role of each field; `author.name` is a nested field, "" is none.

    Title, abstract, body and keywords are searched. Each may be several fields with weights.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: FieldName = Field(default="_id", min_length=1, description="id of a paper")
    title: Annotated[WeightedFields, Field(min_length=1)] = Field(
        description="title: a field, a list of fields, or fields with weights {titel = 2.0, untertitel = 1.0}"
    )
    abstract: WeightedFields = Field(default_factory=dict, description="abstract, in the same forms as title")
    body: WeightedFields = Field(
        default_factory=dict,
        description="full text, in the same forms; the first 100,000 characters replace a missing abstract",
    )
    keywords: WeightedFields = Field(default_factory=dict, description="keywords, in the same forms as title")
    year: FieldName = Field(default="", description="year of publication")
    lang: FieldName = Field(default="", description="language")
    authors: FieldName = Field(default="", description="authors")
    journal: FieldName = Field(default="", description="journal")
    doi: FieldName = Field(default="", description="DOI")
    url: FieldName = Field(default="", description="address of the paper")
    references: FieldName = Field(default="", description="ids of papers of the same index")

    @property
    def searched(self) -> dict[str, float]:
        """The fields in which words are searched for."""
        return {**self.body, **self.keywords, **self.abstract, **self.title}

    @property
    def named(self) -> dict[str, str]:
        """The role of each configured field, except the server's own id."""
        names = ((name, role) for role, value in self for name in ([value] if _is_text(value) else value))
        return {name: role for name, role in names if name and name != "_id"}


class Settings(ElasticsearchServer, SourceSettings):
    """The server's address, and the fields of the index."""

    url: BaseUrl = Field(
        description="address of the server, or of the proxy before several, like https://HOST:9200"
    )
    index: str = Field(description="an index, an alias or a pattern")
    private: bool = Field(
        default=True, description="questions stay within the institution; `sources list` shows it"
    )
    answer_bytes: int = Field(
        default=64_000_000, ge=10_000, le=1_000_000_000, description="maximum bytes of one answer"
    )
    hangul: Literal["words", "prefixes"] = Field(
        default="words",
        description="words: Korean as the index analyses it; prefixes: for an index that cuts Korean at "
        "spaces only, as the standard analyzer does, so that 메탄 finds 메탄을",
    )
    year_type: YearType = Field(
        default="number", description="mapping of the year's field; a text starts with the year"
    )
    languages: dict[Language, Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict, description='values of the language field, like {ko = "kor", en = "eng"}'
    )
    fields: IndexFields

    @property
    def longest_s(self) -> float:
        """Time for two requests and a margin: records, then their full texts or their references."""
        return 2 * self.timeout_s + LEEWAY_S

    @field_validator("index")
    @classmethod
    def _names_an_index(cls, index: str) -> str:
        if not INDEX.fullmatch(index) or index.startswith(("_", "-", "+", ".")):
            raise ValueError("is not the name of an index")
        return index

    @field_validator("languages")
    @classmethod
    def _differ(cls, languages: dict[Language, str]) -> dict[Language, str]:
        named: dict[str, Language] = {}
        for language, name in languages.items():
            if (other := named.setdefault(name.casefold(), language)) != language:
                raise ValueError(f"{other} and {language} are the same")
        return languages

    @model_validator(mode="after")
    def _a_user_has_a_password(self) -> Self:
        if self.user and not (self.password or self.api_key):
            raise ValueError("user is set without a password: set its variable, or password_file")
        return self
