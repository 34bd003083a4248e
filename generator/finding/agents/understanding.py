"""Understanding: intent of a question and queries that cover it (SPAR, section 3.1, appendix C.1).

Without a model, the intent comes from the question's words and the time requirement from its explicit
conditions. The queries join its words with the words of each perspective.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from base.notes import Note
from generator.finding.request import FindResources
from generator.finding.state import Intent, Understanding, Year
from generator.model_step import ModelStep, constant
from generator.prompts import load_prompt
from generator.tracing.steps import Step
from retriever.relevance.papers import subject_of
from retriever.sources.merging import LimitedSource

QUERIES = 5  # besides the question itself
VAGUE = 2  # most words of a vague question
SPECIFIC = re.compile(r"\b10\.\d{4,9}/\S+|[\"“「『<〈《][^\"”」』>〉》]{12,}[\"”」』>〉》]", re.IGNORECASE)
RECENT = r"\b(?:recent\w*|latest|newest|advances|current|emerging|up-to-date)\b|최근|최신|새로운"
SIGNS: dict[Intent, str] = {
    "comparison": r"\b(?:compar\w+|versus|vs\.?|differences? between|better than|rather than)\b"
    r"|비교|차이|어느 (?:쪽|것)|대비",
    "survey": r"\b(?:surveys?|reviews?|overview|state of the art|literature|landscape|multi-?angle|trends?)\b"
    r"|동향|개관|리뷰|문헌|고찰|흐름|전반|현황",
    "recent": RECENT,
}
# Words added to the question's words, by intent, in English and Korean.
PERSPECTIVES: dict[Intent, tuple[str, str]] = {
    "survey": (
        "review, methods, applications, history development, challenges open problems",
        "개관, 방법, 응용, 역사 발전, 한계 과제",
    ),
    "recent": (
        "recent advances, new methods, applications, evaluation results",
        "최근 동향, 새로운 방법, 응용, 평가 결과",
    ),
    "comparison": (
        "comparison, experimental evaluation, advantages limitations",
        "비교, 실험 평가, 장점 한계",
    ),
    "other": ("methods, empirical evaluation, applications", "방법, 실증 분석, 응용"),
}

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]
Reason = Annotated[str, Field(max_length=600)]


class ModelUnderstanding(BaseModel):
    """Reply schema."""

    intent: Literal["survey", "recent", "comparison", "specific", "other"]
    domain: Annotated[str, Field(max_length=200)]
    first_year: Year | None
    last_year: Year | None
    recent: bool
    sources: Annotated[list[str], Field(max_length=20)]
    sources_reason: Reason
    needs_expansion: bool
    expansion_reason: Reason
    queries: Annotated[list[Text], Field(max_length=QUERIES)]


async def understand(resources: FindResources, step: Step, subject: str) -> Understanding:
    """Understand the question by the model, else by rules; without the agent, only the question is used.

    `subject` is the question without its explicit conditions.
    """
    request = resources.request
    ruled = await _by_rules(resources, subject)
    if not request.does("understanding"):
        return replace(ruled, intent="other", queries=(), expands=False)
    if resources.model is None:
        with step.step("understanding", question=request.question) as understanding:
            shown = ("intent", "first_year", "last_year", "recent", "queries", "by")
            understanding.output = {name: getattr(ruled, name) for name in shown}
            understanding.output["queries"] = list(ruled.queries)
        return ruled

    understanding_step: ModelStep[ModelUnderstanding, Understanding] = ModelStep(
        "understanding",
        load_prompt("understanding", request.language),
        {
            "sources": [describe(source) for source in resources.sources],
            "year": str(request.year),
            "question": request.question,
        },
        ModelUnderstanding,
        read=lambda reply: _by_model(reply.value, ruled, resources),
        fallback="understood by rules",
        otherwise=constant(ruled),
        inputs={"question": request.question},
    )
    return await understanding_step.run(step, resources.model, resources.allowance)


def describe(source: LimitedSource) -> str:
    """Describe a source for the prompt: name, kind and content."""
    return f"{source.name} ({source.kind})" + (f": {source.description}" if source.description else "")


def _by_model(answer: ModelUnderstanding, ruled: Understanding, resources: FindResources) -> Understanding:
    """Return the model's understanding; years in the question take precedence over the model's."""
    first, last = answer.first_year, answer.last_year
    if ruled.years:
        first, last = ruled.first_year, ruled.last_year
    contradict = first is not None and last is not None and first > last
    specific = answer.intent == "specific" and resources.request.does("specific-intent")
    chosen = {source.partition(" (")[0].strip() for source in answer.sources}  # some models repeat the line
    queries = tuple(dict.fromkeys(answer.queries)) if answer.needs_expansion and not specific else ()
    return Understanding(
        intent=answer.intent if answer.intent != "specific" or specific else "other",
        domain=answer.domain,
        first_year=None if contradict else first,
        last_year=None if contradict else last,
        recent=answer.recent,
        sources=tuple(source.name for source in resources.sources if source.name in chosen),
        sources_reason=answer.sources_reason,
        expands=bool(queries),
        expansion_reason=answer.expansion_reason,
        queries=queries,
        by="model",
        notes=(Note("years_contradict"),) if contradict else (),
    )


async def _by_rules(resources: FindResources, subject: str) -> Understanding:
    request, (first, last) = resources.request, resources.conditions.years or (None, None)
    question = request.question
    signs = (name for name, sign in SIGNS.items() if re.search(sign, question, re.IGNORECASE))
    intent: Intent = next(signs, "other")
    if SPECIFIC.search(question) and request.does("specific-intent"):
        intent = "specific"
    words = await resources.relevance.words(subject)
    core = " ".join(word.keyword.text for word in subject_of(words))
    queries: Sequence[str] = ()
    if core and intent != "specific" and (intent != "other" or len(words) <= VAGUE):
        perspectives = PERSPECTIVES[intent][request.language == "ko"].split(", ")
        queries = [f"{core} {part}" for part in perspectives][:QUERIES]
    reason = f"the question is for a {intent}" if intent != "other" else "the question is short"
    return Understanding(
        intent=intent,
        first_year=first,
        last_year=last,
        recent=bool(re.search(RECENT, question, re.IGNORECASE)),
        expands=bool(queries),
        expansion_reason=reason if queries else "",
        queries=tuple(queries),
    )
