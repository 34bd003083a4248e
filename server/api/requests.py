"""Requests of the API, and their conversion for the layers below.

Bounds that a layer below checks, with its own messages, are only part of the description here (`described`).
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from generator.request import AskRequest, Settings
from generator.settings import HopsMode
from generator.ways import make_request, way_names
from retriever.constraints.parsing import LONGEST_EXCLUSION, MOST_CONSTRAINTS, Constraints, chosen_constraints
from retriever.keywords.given import LONGEST_GIVEN, MOST_GIVEN
from retriever.methods import method_named, method_names
from retriever.papers.page import LONGEST_ID
from retriever.queries.filters import Filters, make_filters
from retriever.requests.request import MOST_CHARACTERS, check_question
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from server.access.callers import current_visit
from server.problems.call_errors import IN_PART

MOST_HITS = 1_000  # as `shrag search -k`

SOME_TEXT = r"\S"
YEARS = r"^\s*([12]\d{3}|[12]\d{3}\.\.|\.\.[12]\d{3}|[12]\d{3}\.\.[12]\d{3})\s*$"
QUESTION = "How can the spread of thermal runaway in a battery pack be slowed?"


def described(*, example: Any, **schema: Any) -> WithJsonSchema:
    """Describe a value by a JSON schema; the layer that uses it checks it."""
    return WithJsonSchema(schema | {"examples": [example]})


def with_examples(*examples: dict[str, Any]) -> ConfigDict:
    """Describe a call by examples of its body."""
    return ConfigDict(json_schema_extra={"examples": list(examples)})


def nothing_or(*, example: Any, **schema: Any) -> WithJsonSchema:
    """Describe an optional value."""
    return described(anyOf=[schema, {"type": "null"}], example=example)


def texts(most: int, longest: int) -> dict[str, Any]:
    """Describe a list of texts."""
    item = {"type": "string", "maxLength": longest, "pattern": SOME_TEXT}
    return {"type": "array", "items": item, "maxItems": most}


Question = Annotated[
    str,
    described(type="string", maxLength=MOST_CHARACTERS, pattern=SOME_TEXT, example=QUESTION),
    Field(description="a question or words; with method boolean an expression"),
]
IndexName = Annotated[
    str | None,
    Field(description="name of the index; optional if there is only one", examples=["sample"]),
]
SourceNames = Annotated[
    tuple[str, ...],
    Field(description="names of sources to search instead of an index", examples=[["library"]]),
]
Years = Annotated[
    str | None,
    nothing_or(type="string", pattern=YEARS, example="2019..2024"),
    Field(description="2019, 2019..2024, ..2024 or 2019.."),
]
LanguageName = Annotated[str | None, nothing_or(type="string", enum=["ko", "en", "other"], example="en")]
Journal = Annotated[
    str | None, Field(description="exact name of the journal", examples=["Batteries and Recovery Letters"])
]
MethodName = Annotated[
    str,
    described(type="string", enum=method_names(), example="shrag"),
    Field(description="how candidates are found and ordered"),
]


class Call(BaseModel):
    """A request body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _of_known_names_and_texts(cls, given: Any) -> Any:
        for name, value in given.items() if isinstance(given, Mapping) else ():
            if name not in cls.model_fields:
                name = str(name).encode(errors="replace").decode()  # noqa: PLW2901 - quoted in the message
                near = get_close_matches(name, list(cls.model_fields), 1)
                meant = f"; did you mean {near[0]}?" if near else ""
                raise PydanticCustomError(IN_PART, "unknown field{meant}", {"part": name, "meant": meant})
            if not all(map(_is_text, value if isinstance(value, list | tuple) else [value])):
                raise PydanticCustomError(
                    IN_PART, "is not valid Unicode: it contains a lone surrogate", {"part": name}
                )
        return given


def _is_text(value: Any) -> bool:
    """Check whether a value, if it is text, can be encoded; JSON can escape lone surrogates."""
    try:
        str(value).encode()
    except UnicodeEncodeError:
        return False
    return True


class Asked(Call):
    """Fields that `search` and `ask` share; the names are those of the command line."""

    question: Question
    index: IndexName = None
    year: Years = None
    lang: Annotated[LanguageName, Field(description="of the passage")] = None
    journal: Journal = None
    exclude: Annotated[
        tuple[str, ...],
        described(**texts(MOST_CONSTRAINTS, LONGEST_EXCLUSION), example=["cooling plate"]),
        Field(description="rank papers about these terms lower"),
    ] = ()
    strict_time: Annotated[
        bool, Field(description="leave out papers outside the years of the question", examples=[True])
    ] = False
    constraints: Annotated[
        bool,
        Field(
            description="rank by the exclusions and years of the question",
            examples=[False],
        ),
    ] = True
    keywords: Annotated[
        tuple[str, ...] | None,
        nothing_or(**texts(MOST_GIVEN, LONGEST_GIVEN), example=["thermal runaway", "battery", "cell"]),
        Field(
            description="k1, k2, … instead of the keywords of the question, the most important first",
        ),
    ] = None
    skip: Annotated[
        tuple[str, ...],
        Field(description="names of queries to leave out", examples=[["SQ1", "question"]]),
    ] = ()

    def model_post_init(self, _: Any) -> None:
        """Record the original question for the audit log."""
        if (visit := current_visit()) and not visit.question:
            visit.question = self.question

    def filters(self) -> Filters:
        """Return the filters; raise BadFilter if they are invalid."""
        return make_filters(self.year, self.lang, self.journal)

    def chosen_constraints(self, settings: RetrieverSettings) -> Constraints | None:
        """Return the constraints of these options; None derives them from the question."""
        return chosen_constraints(
            self.question,
            settings,
            exclude=self.exclude,
            strict_time=self.strict_time,
            found=self.constraints,
        )


class IndexSearch(Asked):
    """A search of an index."""

    model_config = with_examples({"question": QUESTION, "k": 3, "year": "2019.."})

    method: MethodName = "shrag"
    k: Annotated[int, Field(ge=1, le=MOST_HITS, description="papers to find", examples=[5])] = 10

    def request(self, settings: RetrieverSettings) -> SearchRequest:
        """Return the request of the retriever; raise BadFilter if a filter is invalid."""
        return SearchRequest(
            self.question,
            method=self.method,
            k=self.k,
            filters=self.filters(),
            constraints=self.chosen_constraints(settings),
            keywords=self.keywords,
            skip=self.skip,
        )


class SearchCall(IndexSearch):
    """A search of an index, or of sources."""

    sources: SourceNames = ()
    facets: Annotated[
        bool,
        Field(
            description="also count the papers of the index by year, language and journal", examples=[True]
        ),
    ] = False


class AskCall(Asked):
    """A question to answer; omitted fields use the settings."""

    model_config = with_examples({"question": QUESTION, "evidence": 3})

    sources: SourceNames = ()
    method: Annotated[
        str | None,
        nothing_or(type="string", enum=method_names(), example="shrag"),
        Field(description="how candidates are found and ordered"),
    ] = None
    way: Annotated[
        str | None,
        nothing_or(type="string", enum=way_names(), example="shrag"),
        Field(description="the method from the question to its answer"),
    ] = None
    topic: Annotated[
        str | None,
        nothing_or(type="string", maxLength=LONGEST_ID, pattern=SOME_TEXT, example="SAMPLE-BAT-001"),
        Field(description="the paper that the question is about, by its id or exact title (ways paper-qa-…)"),
    ] = None
    hops: Annotated[
        HopsMode | None,
        Field(
            description="answer in several steps: auto if the form of the question needs it",
            examples=["auto"],
        ),
    ] = None
    evidence: Annotated[
        int | None, Field(ge=1, le=100, description="number of papers as evidence", examples=[5])
    ] = None

    def request(self, settings: Settings) -> AskRequest:
        """Return the request of the generator.

        Raises:
            BadQuestion, BadFilter, UnknownWay: the request is invalid.
        """
        check_question(self.question)
        asked = make_request(
            settings,
            self.question,
            self.filters(),
            way=self.way,
            method=self.method,
            evidence=self.evidence,
            constraints=self.chosen_constraints(settings.retriever),
            keywords=self.keywords,
            skip=self.skip,
            topic=self.topic,
            hops=self.hops,
        )
        method_named(asked.method)
        return asked
