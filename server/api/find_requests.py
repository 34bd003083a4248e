"""Requests to find papers; the names are those of `shrag find-papers`."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError

from base.errors import InvalidCall
from generator.finding.agents import ADDITIONS, AGENTS, PURE
from generator.finding.bounds import BOUNDS, DEFAULTS, Wording
from generator.finding.request import FindRequest
from generator.model_calls.budgets import Budget
from retriever.queries.filters import make_filters
from retriever.requests.request import MOST_CHARACTERS
from server.access.callers import current_visit
from server.api.requests import (
    QUESTION,
    SOME_TEXT,
    Call,
    IndexName,
    Journal,
    LanguageName,
    SourceNames,
    Years,
    nothing_or,
    with_examples,
)
from server.errors import SearchUnusable

SEARCH_ID = r"^[0-9a-f]{32}$"
Bound = Annotated[int | None, Field(ge=0, le=1_000_000_000, examples=[200])]


def _option(name: str, description: str, **bounds: Any) -> Any:
    return Field(DEFAULTS[name], description=description, examples=[DEFAULTS[name]], **bounds)


def _number(name: str, description: str) -> Any:
    least, most = BOUNDS[name]
    return _option(name, description, ge=least, le=most)


class FindCall(Call):
    """A new search for papers, or a kept one to continue."""

    model_config = with_examples({"question": QUESTION, "papers": 5, "max_papers": 100})

    question: Annotated[
        str | None,
        nothing_or(type="string", maxLength=MOST_CHARACTERS, pattern=SOME_TEXT, example=QUESTION),
        Field(description="the topic of the papers to find; optional with resume"),
    ] = None
    index: IndexName = None
    sources: SourceNames = ()
    resume: Annotated[
        str | None,
        nothing_or(type="string", pattern=SEARCH_ID, example="0f" * 16),
        Field(description="the id of a kept search; fields that the call leaves out keep their saved values"),
    ] = None
    year: Years = None
    lang: Annotated[LanguageName, Field(description="of the paper")] = None
    journal: Journal = None
    papers: int = _number("papers", "number of papers to find; the search stops when it has them")
    rounds: int = _number("rounds", "rounds in which queries are evolved from the papers found")
    layers: int = _number("layers", "number of steps along references")
    threshold: float = _number(
        "threshold",
        "lowest score of a relevant paper; without a model a share of the expected F",
    )
    judge: Wording = _option("judge", "variant of the model's relevance prompt")
    per_query: int = _number("per_query", "papers per query")
    seed: int = _option("seed", "random seed for the choice of evolved queries", ge=-(2**63), lt=2**63)
    without: Annotated[
        tuple[Literal[*AGENTS, *ADDITIONS], ...],  # type: ignore[valid-type]
        Field(description="agents and additions to switch off", examples=[["refchain"]]),
    ] = ()
    pure: Annotated[
        bool, Field(description=f"SPAR's method alone, without {', '.join(ADDITIONS)}", examples=[False])
    ] = False
    max_calls: Annotated[Bound, Field(description="most calls of the model")] = None
    max_tokens: Annotated[Bound, Field(description="most tokens of these calls")] = None
    max_seconds: Annotated[
        float | None, Field(gt=0, le=1_000_000, description="time limit in seconds", examples=[60])
    ] = None
    max_papers: Annotated[Bound, Field(description="most papers to judge")] = None

    def model_post_init(self, _: object) -> None:
        """Record the original question for the audit log."""
        if (visit := current_visit()) and self.question:
            visit.question = self.question

    def named(self) -> dict[str, Any]:
        """Return the fields that the call sets, to be saved with the search."""
        return self.model_dump(mode="json", exclude_unset=True, exclude={"resume"})

    @classmethod
    def of_kept(cls, named: dict[str, Any]) -> Self:
        """Return the call of a kept search; raise SearchUnusable if it is invalid."""
        try:
            return cls.model_validate(named)
        except ValidationError as error:
            raise SearchUnusable("the request of the kept search cannot be read") from error

    def resuming(self, named: dict[str, Any]) -> "FindCall":
        """Return the call with the saved fields of a kept search where it leaves them out.

        Raises:
            InvalidCall: it names another question, index or source.
            SearchUnusable: the saved call is invalid.
        """
        kept, whole = FindCall.of_kept(named), FindCall.of_kept({**named, **self.named()})
        if whole.question != kept.question:
            raise InvalidCall(f"the kept search has another question: {str(kept.question)[:200]!r}")
        if (whole.index, whole.sources) != (kept.index, kept.sources):
            place = f"sources {', '.join(kept.sources)}" if kept.sources else f"index {kept.index}"
            raise InvalidCall(f"the kept search uses {place} and cannot continue elsewhere")
        return whole

    def request(self) -> FindRequest:
        """Return the request of the generator.

        Raises:
            BadQuestion, BadFilter: the request is invalid.
        """
        return FindRequest(
            self.question or "",
            papers=self.papers,
            rounds=self.rounds,
            layers=self.layers,
            threshold=self.threshold,
            judge=self.judge,
            per_query=self.per_query,
            seed=self.seed,
            without=frozenset(self.without) | (PURE if self.pure else frozenset()),
            filters=make_filters(self.year, self.lang, self.journal),
            budget=Budget(self.max_calls, self.max_tokens, self.max_seconds, self.max_papers),
        )
