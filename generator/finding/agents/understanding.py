"""Understanding: intent of a question and queries that cover it (SPAR, section 3.1, appendix C.1).

Without a model only the question is searched for, within the years of its explicit conditions.
"""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from base.notes import Note
from generator.finding.state import FindResources, Intent, Understanding, Year
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.tracing import Step
from retriever.sources.merging import LimitedSource

QUERIES = 5  # besides the question itself

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]
Reason = Annotated[str, Field(max_length=600)]


class ModelUnderstanding(BaseModel):
    """Reply schema."""

    intent: Intent
    domain: Annotated[str, Field(max_length=200)]
    first_year: Year | None
    last_year: Year | None
    recent: bool
    sources: Annotated[list[str], Field(max_length=20)]
    sources_reason: Reason
    needs_expansion: bool
    expansion_reason: Reason
    queries: Annotated[list[Text], Field(max_length=QUERIES)]


async def understand(resources: FindResources, step: Step) -> Understanding:
    """Understand the question by the model; otherwise only its explicit years are used."""
    request, (first, last) = resources.request, resources.conditions.years or (None, None)
    explicit = Understanding(first_year=first, last_year=last)
    if not request.does("understanding"):
        return explicit
    if resources.model is None:
        with step.step("understanding", question=request.question) as understanding:
            understanding.output = {"first_year": first, "last_year": last, "by": explicit.by}
        return explicit

    understanding_step: ModelStep[ModelUnderstanding, Understanding] = ModelStep(
        "understanding",
        load_prompt("understanding", request.language),
        {
            "sources": [describe(source) for source in resources.sources],
            "year": str(request.year),
            "question": resources.question,
        },
        ModelUnderstanding,
        read=lambda reply: _by_model(reply.value, explicit, resources),
        fallback="the years of the question",
        inputs={"question": request.question},
    )
    return await understanding_step.run(step, resources.model, resources.allowance) or explicit


def describe(source: LimitedSource) -> str:
    """Describe a source for the prompt: name, kind and content."""
    return f"{source.name} ({source.kind})" + (f": {source.description}" if source.description else "")


def _by_model(answer: ModelUnderstanding, explicit: Understanding, resources: FindResources) -> Understanding:
    """Return the model's understanding; years in the question take precedence over the model's."""
    first, last = answer.first_year, answer.last_year
    if explicit.years:
        first, last = explicit.first_year, explicit.last_year
    contradict = first is not None and last is not None and first > last
    specific = answer.intent == "specific" and resources.request.does("specific-intent")
    chosen = {source.partition(" (")[0].strip() for source in answer.sources}  # some models repeat the line
    queries = tuple(dict.fromkeys(answer.queries)) if answer.needs_expansion and not specific else ()
    return Understanding(
        **answer.model_dump(include={"domain", "recent", "sources_reason", "expansion_reason"}),
        intent="other" if answer.intent == "specific" and not specific else answer.intent,
        first_year=None if contradict else first,
        last_year=None if contradict else last,
        sources=tuple(source.name for source in resources.sources if source.name in chosen),
        expands=bool(queries),
        queries=queries,
        by="model",
        notes=(Note("years_contradict"),) if contradict else (),
    )
