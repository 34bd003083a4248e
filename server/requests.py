"""What a caller of the API may ask for, and what is made of it for the layers below."""

from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generator.request import AskRequest, Settings
from generator.ways import find_way
from retriever.constraints import Constraints, chosen_constraints
from retriever.filters import make_filters
from retriever.methods import method_named
from retriever.queries import Filters
from retriever.search import MOST_CHARACTERS, SearchRequest, check_question
from retriever.settings import RetrieverSettings

MOST_HITS = 1_000  # as `shrag search -k`

IndexName = Annotated[str | None, Field(description="its name; may be left out where there is one index")]


class Asked(BaseModel):
    """What `search` and `ask` have in common; the words are those of the command line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Annotated[
        str, Field(max_length=MOST_CHARACTERS, examples=["Does drip irrigation lower methane?"])
    ]
    index: IndexName = None
    year: Annotated[str | None, Field(description="2019, 2019..2024, ..2024 or 2019..")] = None
    lang: Annotated[str | None, Field(description="of the passage: ko, en or other")] = None
    journal: Annotated[str | None, Field(description="the journal's name, exactly")] = None
    exclude: Annotated[tuple[str, ...], Field(description="rank papers about these terms lower")] = ()
    strict_time: Annotated[bool, Field(description="leave out papers of other years than asked for")] = False
    constraints: Annotated[
        bool, Field(description="what the question excludes, and its years, have a part in the order")
    ] = True

    keywords: Annotated[
        tuple[str, ...] | None,
        Field(description="k1, k2, … instead of those of the question, as a person ordered them"),
    ] = None
    skip: Annotated[tuple[str, ...], Field(description="names of queries to leave out: SQ9, question")] = ()

    def filters(self) -> Filters:
        """Return the filters; BadFilter where they cannot be read."""
        return make_filters(self.year, self.lang, self.journal)

    def chosen_constraints(self, settings: RetrieverSettings) -> Constraints | None:
        """Return the constraints of these options; None leaves them to the question."""
        return chosen_constraints(
            self.question,
            settings,
            exclude=self.exclude,
            strict_time=self.strict_time,
            found=self.constraints,
        )


class SearchCall(Asked):
    """A search."""

    method: Annotated[str, Field(description="or, paper, shrag, boolean, dense")] = "shrag"
    k: Annotated[int, Field(ge=1, le=MOST_HITS, description="papers to find")] = 10

    def request(self, settings: RetrieverSettings) -> SearchRequest:
        """Make the request of the retriever; BadFilter where a filter cannot be read."""
        return SearchRequest(
            self.question,
            method=self.method,
            k=self.k,
            filters=self.filters(),
            constraints=self.chosen_constraints(settings),
            keywords=self.keywords,
            skip=self.skip,
        )


class AskCall(Asked):
    """A question to be answered; what is not given is as the settings have it."""

    method: str | None = None
    way: str | None = None
    evidence: Annotated[int | None, Field(ge=1, le=100, description="papers that the answer rests on")] = None

    def request(self, settings: Settings) -> AskRequest:
        """Make the request of the generator.

        Raises:
            BadQuestion, BadFilter, UnknownWay: a request that cannot be used.
        """
        check_question(self.question)
        asked = settings.request(
            self.question,
            self.filters(),
            way=self.way,
            method=self.method,
            evidence=self.evidence,
            constraints=self.chosen_constraints(settings.retriever),
        )
        find_way(asked.way)
        method_named(asked.method)
        return replace(asked, keywords=self.keywords, skip=self.skip)
