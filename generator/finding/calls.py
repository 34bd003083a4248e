"""Calls that find papers: the options of `find-papers` and `eval run --find`, and the requests of the API."""

from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, PlainSerializer, ValidationError

from base.calls import SOME_TEXT, Call, Flag, Section, invalid_call, optional, with_examples
from generator.budgets import Budget
from generator.finding.agents import ADDITIONS, AGENTS, PURE
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, Language, language_of_question
from retriever.calls import QUESTION, Filtered, IndexName, SourceNames
from retriever.queries.filters import Filters
from retriever.request import MAX_CHARACTERS, check_question

SEARCH_ID = r"^[0-9a-f]{32}$"
FILTERS = {"year": "years"} | {name: name for name in ("lang", "journal", "author", "type")}  # by option

Wording: TypeAlias = Literal["brief", "complex"]  # of the prompt that judges papers
Most = Annotated[int | None, Field(ge=0, le=1_000_000_000, examples=[200])]


class FindOptions(Call):
    """Options of the steps of a search for papers.

    `papers` is the size of the paper cache (SPAR's K), `rounds` the number of rounds of evolved queries,
    `layers` the number of layers of references (SPAR: 1), `threshold` the least judgement of a relevant paper
    (a model's score, or a probability as a share of the best list's expected F: `FindingState.is_relevant`).
    """

    papers: Annotated[
        int,
        Flag("-k", section=Section.FINDING),
        Field(
            ge=1,
            le=500,
            description="Papers to find; the search ends when this many are relevant.",
            examples=[20],
        ),
    ] = 20
    rounds: Annotated[
        int,
        Flag(section=Section.FINDING),
        Field(
            ge=0,
            le=10,
            description="Rounds of further queries, made by a model from the relevant papers.",
            examples=[1],
        ),
    ] = 1
    layers: Annotated[
        int,
        Flag(section=Section.FINDING),
        Field(
            ge=0,
            le=3,
            description="Layers of references to follow: 1 = of relevant papers, 2 = also of those papers.",
            examples=[1],
        ),
    ] = 1
    threshold: Annotated[
        float,
        Flag(section=Section.FINDING),
        Field(
            ge=0,
            le=1,
            description="Least score by a model of a relevant paper. Without a model the default gives the "
            "list with the highest expected F, and a lower threshold a longer list.",
            examples=[0.5],
        ),
    ] = 0.5
    judge: Annotated[
        Wording,
        Flag(section=Section.FINDING),
        Field(
            description="Judgement by a model: brief = one score, complex = several criteria.",
            examples=["brief"],
        ),
    ] = "brief"
    per_query: Annotated[
        int,
        Flag(section=Section.FINDING),
        Field(ge=1, le=200, description="Papers per query and source.", examples=[20]),
    ] = 20
    seed: Annotated[
        int,
        Flag(section=Section.FINDING),
        Field(
            ge=-(2**63), lt=2**63, description="Seed of the random choice of further queries.", examples=[0]
        ),
    ] = 0
    without: Annotated[
        frozenset[Literal[*AGENTS, *ADDITIONS]],  # type: ignore[valid-type]
        Flag(section=Section.FINDING, metavar="AGENT,…", commas=True),
        PlainSerializer(sorted),
        Field(
            description=f"Switch agents off: {', '.join([*AGENTS, *ADDITIONS])}.",
            examples=[["refchain"]],
            json_schema_extra=lambda schema: schema.pop("uniqueItems", None),  # repeated names are accepted
        ),
    ] = frozenset()


class FindRequest(FindOptions):
    """A question and the options of a search for papers."""

    question: str
    evolved: Annotated[int, Field(ge=0, le=100)] = 5  # evolved queries sampled for a round
    filters: Filters = Filters()
    budget: Budget = Budget()
    this_year: Annotated[int, Field(ge=FIRST_YEAR, le=LAST_YEAR)] | None = None  # None: the current one

    def __init__(self, question: str, **options: Any) -> None:
        """Check the question and the options.

        Raises:
            BadQuestion: the question is empty or too long.
            InvalidCall: an option is unknown or out of bounds.
        """
        check_question(question)
        try:
            super().__init__(**{"question": question, **options})
        except ValidationError as error:
            raise invalid_call(error) from None

    def does(self, name: str) -> bool:
        """Check whether an agent or an addition is on."""
        return name not in self.without

    @property
    def year(self) -> int:
        """The year by which papers are recent."""
        return self.this_year or datetime.now().astimezone().year

    @property
    def language(self) -> Language:
        """The language of the question."""
        return language_of_question(self.question)

    def as_record(self) -> dict[str, Any]:
        """Return the request as JSON, for a trace."""
        options = {name: getattr(self, name) for name in type(self).model_fields}
        return options | {
            "without": sorted(self.without),
            "filters": self.filters.as_record(),
            "budget": asdict(self.budget),
        }


class FindCall(FindOptions, Filtered):
    """A new search for papers, or a kept one to continue."""

    model_config = with_examples({"question": QUESTION, "papers": 5, "max_papers": 100})

    question: Annotated[
        str | None,
        Flag(argument=True),
        optional(type="string", maxLength=MAX_CHARACTERS, pattern=SOME_TEXT, example=QUESTION),
        Field(description="The topic of the papers to find; optional with resume."),
    ] = None
    index: IndexName = None
    sources: SourceNames = ()
    resume: Annotated[
        str | None,
        Flag(hidden=True),
        optional(type="string", pattern=SEARCH_ID, example="0f" * 16),
        Field(description="The id of a kept search; omitted fields keep their saved values."),
    ] = None
    pure: Annotated[
        bool,
        Flag(section=Section.FINDING),
        Field(description=f"SPAR's method alone: without {', '.join(ADDITIONS)}.", examples=[False]),
    ] = False
    max_calls: Annotated[
        Most,
        Flag(section=Section.BUDGETS),
        Field(description="No further model call begins after this many requests (retries included)."),
    ] = None
    max_tokens: Annotated[
        Most,
        Flag(section=Section.BUDGETS),
        Field(description="No further model call begins if it may exceed this many tokens in total."),
    ] = None
    max_seconds: Annotated[
        float | None,
        Flag(section=Section.BUDGETS),
        Field(gt=0, le=1_000_000, description="Maximum time in seconds.", examples=[60]),
    ] = None
    max_papers: Annotated[
        Most, Flag(section=Section.BUDGETS), Field(description="Maximum number of judged papers.")
    ] = None

    def request(self) -> FindRequest:
        """Return the request of the generator.

        Raises:
            BadQuestion, BadFilter, InvalidCall: the request is invalid.
        """
        without = self.without | (PURE if self.pure else frozenset())
        return FindRequest(
            self.question or "",
            **self._options() | {"without": without},
            filters=self.filters(),
            budget=Budget(self.max_calls, self.max_tokens, self.max_seconds, self.max_papers),
        )

    def resumed(self, kept: FindRequest) -> FindRequest:
        """Return the saved request with the options of this call, and with its budget."""
        new, given = self.request(), self.model_fields_set
        named = given | ({"without"} if "pure" in given else set())
        filters = {part: getattr(new.filters, part) for option, part in FILTERS.items() if option in given}
        options = {name: getattr(new, name) for name in self._options() if name in named}
        changes = {"filters": replace(kept.filters, **filters), "budget": new.budget}
        return kept.changed(**options, **changes, question=new.question)

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FindOptions.model_fields}
