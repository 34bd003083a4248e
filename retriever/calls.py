"""Calls that search: the options of `search` and `explain`, and the requests of the API.

Bounds that a layer below checks, with its own messages, are only described here (`described`).
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import from_json

from base.calls import SOME_TEXT, Call, Flag, Section, described, optional, texts_schema, with_examples
from retriever.citing.styles import STYLES
from retriever.methods import method_names
from retriever.queries.filters import Filters, make_filters
from retriever.request import MAX_CHARACTERS, RELEVANCE, SearchRequest, Sort
from retriever.strategy import MAX_CHARACTERS as MAX_KEYWORD_CHARACTERS
from retriever.strategy import MAX_EXCLUSIONS, MAX_KEYWORDS, Strategist, Strategy

MOST_HITS = 1_000
LONGEST_PASSAGE_ID = 1_024
YEARS = r"^\s*([12]\d{3}|[12]\d{3}\.\.|\.\.[12]\d{3}|[12]\d{3}\.\.[12]\d{3})\s*$"
QUESTION = "How can the spread of thermal runaway in a battery pack be slowed?"  # the example of all calls

IndexName = Annotated[
    str | None,
    Flag("--name", section=Section.PLACE, metavar="NAME"),
    Field(
        description="The index; optional if there is only one, or if SHRAG_NAME is set.", examples=["sample"]
    ),
]
SourceNames = Annotated[
    tuple[str, ...],
    Flag("--source", section=Section.PLACE, metavar="NAME[,NAME]", commas=True),
    Field(
        description="Sources to search instead of an index: [sources.NAME] of shrag.toml; on the command "
        "line also a file NAME.toml.",
        examples=[["library"]],
    ),
]
METHOD_HELP = (
    "shrag: tuned; or: one OR query; paper: the paper's ten queries; boolean: the expert language; "
    "dense: nearest vectors."
)
ExplanationLanguage = Literal["en", "ko"]
METHODS = {"type": "string", "enum": list(method_names())}


class Filtered(Call):
    """Filters of papers."""

    year: Annotated[
        str | None,
        Flag(section=Section.LIMITS, metavar="Y|Y..Y"),
        optional(type="string", pattern=YEARS, example="2019..2024"),
        Field(description="Year of publication: 2019, 2019..2024, ..2024, 2019.."),
    ] = None
    lang: Annotated[
        str | None,
        Flag(section=Section.LIMITS, metavar="LANG"),
        optional(type="string", enum=["ko", "en", "other"], example="en"),
        Field(description="Language of the passage: ko, en or other."),
    ] = None
    journal: Annotated[
        str | None,
        Flag(section=Section.LIMITS),
        Field(description="Name of the journal, in any case.", examples=["Batteries and Recovery Letters"]),
    ] = None
    author: Annotated[
        str | None,
        Flag(section=Section.LIMITS),
        Field(description="Name of an author, or one word of it.", examples=["Dohyun Oh"]),
    ] = None
    type: Annotated[
        str | None,
        Flag(section=Section.LIMITS),
        Field(
            description="Type of publication, as in the records: article-journal, thesis, …",
            examples=["article-journal"],
        ),
    ] = None

    def filters(self) -> Filters:
        """Return the filters; raise BadFilter if they are invalid."""
        return make_filters(self.year, self.lang, self.journal, self.author, self.type)


class QuestionCall(Filtered):
    """Fields of a search of an index, and of an answer."""

    question: Annotated[
        str,
        Flag(argument=True),
        described(type="string", maxLength=MAX_CHARACTERS, pattern=SOME_TEXT, example=QUESTION),
        Field(description="A question or words; with method boolean an expression."),
    ]
    index: IndexName = None
    exclude: Annotated[
        tuple[str, ...],
        Flag(section=Section.LIMITS, metavar="TERM"),
        described(**texts_schema(MAX_EXCLUSIONS, MAX_KEYWORD_CHARACTERS), example=["cooling plate"]),
        Field(description="Rank papers about this term lower."),
    ] = ()
    conditions: Annotated[
        bool,
        Flag(
            "--no-conditions",
            section=Section.LIMITS,
            help="Treat exclusions, years, fields and quotation marks in the question as ordinary words.",
        ),
        Field(
            description="Apply explicit conditions of the question (-word, except X, since 2015, author:X, "
            '"a phrase"); false: they are ordinary words.',
            examples=[False],
        ),
    ] = True
    keywords: Annotated[
        tuple[str, ...] | None,
        Flag("--keyword", section=Section.SEARCHING, metavar="TEXT"),
        optional(
            **texts_schema(MAX_KEYWORDS, MAX_KEYWORD_CHARACTERS),
            example=["thermal runaway", "battery", "cell"],
        ),
        Field(description="Search by these keywords instead, the most important first."),
    ] = None
    strategy: Annotated[
        Strategy | None,
        Flag(hidden=True),
        BeforeValidator(lambda given: from_json(given) if isinstance(given, str) else given),  # in an address
        Field(
            description="The strategy of a person or an earlier search, instead of a strategist's.",
            examples=[{"en": ["thermal runaway", "battery"], "ko": ["열폭주", "배터리"]}],
        ),
    ] = None
    strategist: Annotated[
        Strategist | None,
        Flag(section=Section.SEARCHING, metavar="model|statistics"),
        Field(
            description="Who writes the strategy: the language model, or statistics of the index. By default "
            "an answer asks the model if one is configured, and a search uses statistics.",
            examples=["statistics"],
        ),
    ] = None
    skip: Annotated[
        tuple[str, ...],
        Flag(section=Section.SEARCHING, metavar="QUERY"),
        Field(description="Leave a query out: question, SQ9, …", examples=[["SQ1", "question"]]),
    ] = ()


class IndexSearch(QuestionCall):
    """A search of an index."""

    model_config = with_examples({"question": QUESTION, "k": 3, "year": "2019.."})

    method: Annotated[
        str,
        Flag(section=Section.SEARCHING),
        described(**METHODS, example="shrag"),
        Field(description=METHOD_HELP),
    ] = "shrag"
    k: Annotated[
        int,
        Flag("-k", section=Section.SEARCHING),
        Field(ge=1, le=MOST_HITS, description="Papers to find.", examples=[5]),
    ] = 10
    sort: Annotated[
        Sort,
        Flag(section=Section.SEARCHING),
        Field(
            description="Order of the papers: relevance; year or citations: the 100 most relevant papers, "
            "latest or most cited first.",
            examples=["year"],
        ),
    ] = RELEVANCE

    def request(self) -> SearchRequest:
        """Return the request of the retriever; raise BadFilter if a filter is invalid."""
        return SearchRequest(**self.values_for(SearchRequest) | {"filters": self.filters()})


class SearchCall(IndexSearch):
    """A search of an index, or of sources."""

    sources: SourceNames = ()
    facets: Annotated[
        bool,
        Flag(hidden=True),
        Field(
            description="Whether to count the papers by year, language, journal, author and type.",
            examples=[True],
        ),
    ] = False


class CitedCall(Call):
    """The style of references and citations."""

    cite: Annotated[
        str | None,
        Flag(section=Section.OUTPUT),
        optional(type="string", enum=tuple(STYLES), example="apa"),
        Field(
            description="Citation style of the references: "
            "APA 7, Chicago (author-date), IEEE, Korean journals, MLA 9 or Vancouver."
        ),
    ] = None


class ExplainedSearch(IndexSearch):
    """A search, and the passage to explain."""

    model_config = with_examples({"question": QUESTION, "passage_id": "SAMPLE-BAT-011"})

    passage_id: Annotated[
        str,
        Flag(argument=True),
        Field(
            max_length=LONGEST_PASSAGE_ID, description="The passage_id of a hit.", examples=["SAMPLE-BAT-011"]
        ),
    ]
    words: Annotated[
        ExplanationLanguage,
        Flag(hidden=True),
        Field(description="Language of `lines`.", examples=["ko"]),
    ] = "en"


class CountedSearch(IndexSearch):
    """A search whose papers are counted; without a question all papers of the index are counted."""

    model_config = with_examples({"question": QUESTION}, {})

    question: Annotated[
        str, Field(description="May be empty: all papers are counted.", examples=[QUESTION])
    ] = ""
