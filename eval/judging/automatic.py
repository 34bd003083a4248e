"""Judgements of the pool by rules or by a model, with the judgement agent of find-papers (SPAR, A.3).

The rules give the relevance by a cross-encoder or an encoder, if one is configured, else the probability that
belongs to the paper's score in the question's ranking. The brief prompt requests a score, the complex prompt
its components.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from base.journal import Append
from eval.judging.calls import RULES
from eval.judging.candidates import Candidate
from eval.judging.funnel import STAGES, automatic_stages, grades_of
from eval.judging.records import CallRecord, Judge, Judged, Pair, StageName
from eval.judging.state import Benchmark
from generator.finding.agents.judgement import judge
from generator.finding.finding import OpenedSources, find_resources
from generator.finding.request import FindRequest
from generator.finding.state import FindingState, FoundBy, Judgement, KnownPaper
from generator.llm import LanguageModel
from generator.pipeline import Settings
from generator.prompts import load_prompt
from generator.tracing.steps import Step, StepEvent
from indexer.corpora.papers import Language
from retriever.errors import SourceFailed

LANGUAGES: tuple[Language, ...] = ("en", "ko")


@dataclass(frozen=True, slots=True)
class Judging:
    """A stage with its judge; `opened` are the places that rules search, `model` is None for rules."""

    stage: StageName
    judge: Judge
    call: CallRecord
    opened: OpenedSources
    settings: Settings
    model: LanguageModel | None


def prompt_versions_of(judge_: Judge) -> dict[str, int]:
    """Return the versions of a judge's prompt by name and language; none for rules."""
    if judge_ == RULES:
        return {}
    prompts = [load_prompt(f"judgement_{judge_}", language) for language in LANGUAGES]
    return {f"{prompt.name}.{prompt.language}": prompt.version for prompt in prompts}


def unjudged(benchmark: Benchmark, call: CallRecord) -> dict[str, list[Candidate]]:
    """Return the papers that passed the stage before and are not judged yet, by query_id."""
    before = {stage.name: stage for stage in automatic_stages(benchmark)}
    order = ("pooled", *STAGES)
    earlier = [before[name] for name in order[: order.index(call.options["stage"])] if name in before]
    known = grades_of(benchmark, call)
    waiting: dict[str, list[Candidate]] = {}
    for query_id, key in earlier[-1].pairs:
        if (query_id, key) not in known:
            waiting.setdefault(query_id, []).append(benchmark.pairs[query_id, key])
    return waiting


async def judge_question(
    query_id: str, question: str, candidates: Sequence[Candidate], by: Judging, keep: Append[Judged]
) -> list[Pair]:
    """Judge papers for a question; pass each judgement to `keep` when it is made; return the unjudged papers.

    Raises:
        ModelFailed: the model failed for all papers.
        SourceFailed: no place answers, so that the rules judge nothing.
    """
    asked_as = "complex" if by.judge == "complex" else "brief"
    request = FindRequest(question, judge=asked_as, without=frozenset({"links"}))
    papers = {
        each.paper.id: KnownPaper(each.merged, (FoundBy("query", question, each.best_rank),))
        for each in candidates
    }
    left = {each.paper.id: (query_id, each.key) for each in candidates}
    prompt = "" if by.judge == RULES else f"judgement_{by.judge}.{_language(request)}"

    def listen(event: StepEvent) -> None:
        if isinstance(event.made, FindingState):
            keep_new(event.made)

    def keep_new(state: FindingState) -> None:
        for paper_id in list(left):
            judgement = state.papers[paper_id].judgement
            if judgement and _is_by(judgement, by):
                keep(_judged(left.pop(paper_id), judgement, prompt, by))

    step = Step("judge", {}, listen)
    async with find_resources(by.opened, request, by.settings, by.model) as resources:
        state = FindingState(question, subject=resources.conditions.remaining, papers=papers)
        keep_new(await judge(state, request, resources, step))
    if len(left) == len(candidates):
        failed = [each.failure for each in step.walk() if each.failure]
        if failed:
            raise failed[0]
        raise SourceFailed("; ".join(dict.fromkeys(step.all_notes())) or "nothing was judged")
    return list(left.values())


@asynccontextmanager
async def model_of(settings: Settings, judge_: Judge) -> AsyncIterator[LanguageModel | None]:
    """Open the language model, unless rules judge; raises ModelNotConfigured."""
    if judge_ == RULES:
        yield None
        return
    async with settings.language_model() as model:
        yield model


def _language(request: FindRequest) -> Language:
    return "ko" if request.language == "ko" else "en"


def _is_by(judgement: Judgement, by: Judging) -> bool:
    """Check whether the judge of the stage made a judgement; rules replace a model that fails."""
    return by.model is None or judgement.by == by.model.settings.model


def _judged(pair: Pair, judgement: Judgement, prompt: str, by: Judging) -> Judged:
    query_id, paper = pair
    parts: Mapping[str, Any] = judgement.parts
    return Judged(
        query_id,
        paper,
        by.stage,
        by.judge,
        judgement.by,
        judgement.score,
        judgement.reason,
        by.call.number,
        prompt,
        by.call.made_with["prompts"][prompt] if prompt else 0,
        parts,
    )
