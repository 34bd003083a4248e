"""Judgements of the pool by rules or by a model, with the judgement agent of find-papers (SPAR, A.3).

The rules give the relevance by a cross-encoder or an encoder, if one is configured, else the probability that
belongs to the paper's score in the question's ranking. The brief prompt requests a score, the complex prompt
its components.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from base.errors import InvalidCall
from base.untrusted import one_line
from eval.judging.benchmark import Benchmark, CallRecord, Candidate, Judged, JudgeName, StageName, adding
from eval.judging.stages import JUDGE_STEP, automatic_stages, scores_of, stage_call
from eval.manifest import model_record, search_record, software
from eval.places import open_places
from eval.progress import question_bar, work_through
from generator.finding.agents.judgement import WORDS, judge
from generator.finding.calls import FindRequest
from generator.finding.finding import OpenedSources, find_resources
from generator.finding.state import FindingState, FoundBy, Judgement, KnownPaper
from generator.llm import LanguageModel
from generator.pipeline import Settings
from generator.prompts import load_prompt
from generator.tracing import Step
from retriever.errors import SourceFailed

COSINE = "cosine"  # the measure of an encoder, in `Judgement.by`
RULES: JudgeName = "rules"
DEFAULTS: Mapping[StageName, JudgeName] = {"coarse": RULES, "fine": "complex"}
# Defaults. Rules with a cross-encoder or an encoder use the thresholds of `brief`: both score relevance.
THRESHOLDS: Mapping[StageName, Mapping[JudgeName, float]] = {
    "coarse": {"rules": 0.005, "brief": 0.3, "complex": 0.2},
    "fine": {"rules": 0.02, "brief": 0.5, "complex": 0.4},
}


def judge_papers(path: Path, stage: StageName, by: JudgeName, threshold: float | None) -> list[str]:
    """Judge the papers that a stage has to judge; return the questions with papers that were not judged."""
    with adding(path) as benchmark:
        if not benchmark.rankings:
            raise InvalidCall(f"{path} has no pool yet", remedy="`shrag benchmark pool` searches for papers")
        if stage == "fine" and stage_call(benchmark, "coarse") is None:
            raise InvalidCall("the coarse stage comes first", remedy="`shrag benchmark judge FOLDER coarse`")
        return asyncio.run(_judge_stage(benchmark, stage, by, threshold, Settings.from_environment()))


async def _judge_stage(
    benchmark: Benchmark, stage: StageName, by: JudgeName, threshold: float | None, settings: Settings
) -> list[str]:
    encoder, reranker = settings.indexer.encoder.provider, settings.indexer.reranker.provider
    async with AsyncExitStack() as opened:
        model, made_with = None, search_record(settings)
        if by != RULES:
            model = await opened.enter_async_context(settings.language_model())
            prompts = [load_prompt(f"judgement_{by}", language) for language in ("en", "ko")]
            made_with = model_record(model.settings, prompts)
        scale: JudgeName = "brief" if by == RULES and {encoder, reranker} != {"none"} else by
        threshold = THRESHOLDS[stage][scale] if threshold is None else threshold
        options = {"stage": stage, "judge": by, "threshold": threshold}
        call = benchmark.next_call(JUDGE_STEP.format(stage), options, {**made_with, **software(models=False)})
        stages = [each for each in automatic_stages(benchmark) if each.name in {"pooled", "coarse"}]
        known = scores_of(benchmark, call)
        waiting: dict[str, list[Candidate]] = {}
        for query_id, key in stages[0 if stage == "coarse" else -1].pairs:
            if (query_id, key) not in known:
                waiting.setdefault(query_id, []).append(benchmark.pairs[query_id, key])
        last = stage_call(benchmark, stage)
        if waiting or last is None or (last.options, last.made_with) != (call.options, call.made_with):
            benchmark.append(call)
        sources, partial = OpenedSources([]), dict[str, str]()
        if waiting and model is None:
            pooled = benchmark.pooled_from
            places = open_places(pooled["index"], pooled["sources"], settings)
            sources = (await opened.enter_async_context(places)).together()

        async def judge_question(query_id: str, candidates: Sequence[Candidate]) -> None:
            left = await _judge_question(
                benchmark, call, query_id, candidates, sources, settings=settings, model=model
            )
            if left:
                partial[query_id] = f"{left:,} of {len(candidates):,} papers"

        with question_bar() as progress:
            failed = await work_through(waiting, judge_question, progress=progress)
    partial |= {query_id: one_line(str(error)) for query_id, error in failed.items()}
    return [f"{query_id}: {partial[query_id]}" for query_id in waiting if query_id in partial]


async def _judge_question(
    benchmark: Benchmark,
    call: CallRecord,
    query_id: str,
    candidates: Sequence[Candidate],
    sources: OpenedSources,
    *,
    settings: Settings,
    model: LanguageModel | None,
) -> int:
    """Judge papers for a question, and add the judgements; return the number of unjudged papers."""
    question, stage, by = benchmark.selected[query_id], call.options["stage"], call.options["judge"]
    request = FindRequest(
        question, judge="complex" if by == "complex" else "brief", without=frozenset({"links"})
    )
    prompt = f"judgement_{by}.{'ko' if request.language == 'ko' else 'en'}" if model else ""
    version = call.made_with["prompts"][prompt] if prompt else 0
    papers = {
        each.paper.id: KnownPaper(each.merged, (FoundBy("query", question, each.best_rank),))
        for each in candidates
    }
    step, judged = Step("judge", {}), []
    async with find_resources(sources, request, settings, model) as resources:
        state = FindingState(question, subject=resources.conditions.remaining, papers=papers)
        state = await judge(state, resources, step)
    for each in candidates:
        made = state.papers[each.paper.id].judgement
        if made and _is_own(made, model, settings):
            given = (stage, by, made.by, made.score, made.reason, call.number, prompt, version, made.parts)
            judged.append(Judged(query_id, each.key, *given))
    if not judged:
        for part in step.walk():
            if part.failure:
                raise part.failure
        raise SourceFailed("; ".join(dict.fromkeys(step.all_notes())) or "nothing was judged")
    benchmark.append(*judged)
    return len(candidates) - len(judged)


def _is_own(made: Judgement, model: LanguageModel | None, settings: Settings) -> bool:
    """Check whether the judge of a call made a judgement, and not its replacement after a failure."""
    if model:
        return made.by == model.settings.model
    if settings.indexer.reranker.provider != "none":
        return made.by not in {COSINE, WORDS}
    return made.by == (WORDS if settings.indexer.encoder.provider == "none" else COSINE)
