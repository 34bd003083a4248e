"""Judgements of the pool by rules or by a model, with the judgement agent of find-papers (SPAR, A.3).

The rules give the relevance by a cross-encoder or an encoder, if one is configured, else the probability that
belongs to the paper's score in the question's ranking. The brief prompt requests a score, the complex prompt
its components.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from base.errors import InvalidCall
from base.untrusted import one_line
from eval.judging.benchmark import Benchmark, CallRecord, Candidate, Judged, adding
from eval.judging.calls import RULES, THRESHOLDS, Judge, JudgeCall
from eval.judging.stages import JUDGE_STEP, automatic_stages, grades_of, stage_call
from eval.manifest import model_record, search_record, software
from eval.places import open_places
from eval.progress import question_bar
from eval.ranking import MOST_FAILURES
from generator.errors import ModelFailed
from generator.finding.agents.judgement import WORDS, judge
from generator.finding.calls import FindRequest
from generator.finding.finding import OpenedSources, find_resources
from generator.finding.state import FindingState, FoundBy, Judgement, KnownPaper
from generator.llm import LanguageModel
from generator.pipeline import Settings
from generator.prompts import load_prompt
from generator.tracing import Step, StepEvent
from retriever.errors import SourceFailed

COSINE = "cosine"  # the measure of an encoder, in `Judgement.by`


@dataclass(frozen=True, slots=True)
class Judging:
    """A call of a stage; `opened` are the places that rules search, `model` is None for rules."""

    benchmark: Benchmark
    call: CallRecord
    opened: OpenedSources
    settings: Settings
    model: LanguageModel | None

    def accepts(self, judgement: Judgement) -> bool:
        """Check whether the judge of the call made a judgement, and not its replacement after a failure."""
        indexer = self.settings.indexer
        if self.model:
            return judgement.by == self.model.settings.model
        if indexer.reranker.provider != "none":
            return judgement.by not in {COSINE, WORDS}
        return judgement.by == (WORDS if indexer.encoder.provider == "none" else COSINE)

    def record(self, query_id: str, candidate: Candidate, made: Judgement, prompt: str) -> Judged:
        """Return the record of a judgement by a prompt, "" for rules."""
        stage, judge = self.call.options["stage"], self.call.options["judge"]
        version = self.call.made_with["prompts"][prompt] if prompt else 0
        by, score, number = made.by, made.score, self.call.number
        return Judged(
            query_id, candidate.key, stage, judge, by, score, made.reason, number, prompt, version, made.parts
        )


def judge_papers(path: Path, call: JudgeCall) -> list[str]:
    """Judge the papers that a stage has to judge; return the questions with papers that were not judged.

    Raises:
        BadBenchmark, DamagedFile, FileBusy: the folder.
        InvalidCall: nothing is pooled, or the coarse stage is missing.
        ModelNotConfigured: the judge is a model, and none is configured.
        ModelFailed, SourceFailed: nothing was judged for `MOST_FAILURES` questions in a row, or for all.
    """
    with adding(path) as benchmark:
        if not benchmark.rankings:
            raise InvalidCall(f"{path} has no pool yet", remedy="`shrag benchmark pool` searches for papers")
        if call.stage == "fine" and stage_call(benchmark, "coarse") is None:
            raise InvalidCall("the coarse stage comes first", remedy="`shrag benchmark judge FOLDER coarse`")
        return asyncio.run(_judge(benchmark, call, Settings.from_environment()))


async def _judge(benchmark: Benchmark, call: JudgeCall, settings: Settings) -> list[str]:
    async with AsyncExitStack() as opened:
        model = None
        if call.judge != RULES:
            model = await opened.enter_async_context(settings.language_model())
        record = _record(benchmark, call, settings, model)
        passed = [stage for stage in automatic_stages(benchmark) if stage.name in {"pooled", "coarse"}]
        before = passed[0] if call.stage == "coarse" else passed[-1]
        known = grades_of(benchmark, record)
        waiting: dict[str, list[Candidate]] = {}
        for query_id, key in before.pairs:
            if (query_id, key) not in known:
                waiting.setdefault(query_id, []).append(benchmark.pairs[query_id, key])
        last = stage_call(benchmark, call.stage)
        if waiting or last is None or (last.options, last.made_with) != (record.options, record.made_with):
            benchmark.append(record)
        sources = OpenedSources([])
        if waiting and model is None:
            pooled = benchmark.pooled_from
            places = open_places(pooled["index"], pooled["sources"], settings)
            sources = (await opened.enter_async_context(places)).together()
        return await _judge_all(waiting, Judging(benchmark, record, sources, settings, model))


def _record(
    benchmark: Benchmark, call: JudgeCall, settings: Settings, model: LanguageModel | None
) -> CallRecord:
    if model:
        prompts = [load_prompt(f"judgement_{call.judge}", language) for language in ("en", "ko")]
        made_with = model_record(model.settings, prompts)
    else:
        made_with = search_record(settings)
    models = {settings.indexer.encoder.provider, settings.indexer.reranker.provider}
    scale: Judge = "brief" if call.judge == RULES and models != {"none"} else call.judge
    threshold = THRESHOLDS[call.stage][scale] if call.threshold is None else call.threshold
    options = {"stage": call.stage, "judge": call.judge, "threshold": threshold}
    step = JUDGE_STEP.format(call.stage)
    return benchmark.next_call(step, options, {**made_with, **software(models=False)})


async def _judge_all(waiting: Mapping[str, Sequence[Candidate]], by: Judging) -> list[str]:
    failed: list[str] = []
    in_a_row = 0
    with question_bar() as progress:
        for done, (query_id, candidates) in enumerate(waiting.items()):
            progress("questions", done, len(waiting))
            try:
                left = await _judge_question(query_id, candidates, by)
                in_a_row = 0
            except (ModelFailed, SourceFailed) as error:
                in_a_row += 1
                if in_a_row in {MOST_FAILURES, len(waiting)}:
                    raise
                failed.append(f"{query_id}: {one_line(str(error))}")
                continue
            if left:
                failed.append(f"{query_id}: {left:,} of {len(candidates):,} papers")
    return failed


async def _judge_question(query_id: str, candidates: Sequence[Candidate], by: Judging) -> int:
    """Judge papers for a question; add judgements as they are made; return the number of unjudged papers.

    Raises:
        ModelFailed: the model failed for all papers.
        SourceFailed: no place answers, or a model of the rules failed for all papers.
    """
    question, name = by.benchmark.selected[query_id], by.call.options["judge"]
    without = frozenset({"links"})
    request = FindRequest(question, judge="complex" if name == "complex" else "brief", without=without)
    papers = {
        each.paper.id: KnownPaper(each.merged, (FoundBy("query", question, each.best_rank),))
        for each in candidates
    }
    left = {each.paper.id: each for each in candidates}
    prompt = f"judgement_{name}.{'ko' if request.language == 'ko' else 'en'}" if by.model else ""

    def append_new(state: FindingState) -> None:
        made = {paper_id: state.papers[paper_id].judgement for paper_id in left}
        judged = [
            by.record(query_id, left.pop(paper_id), each, prompt)
            for paper_id, each in made.items()
            if each and by.accepts(each)
        ]
        if judged:
            by.benchmark.append(*judged)

    def listen(event: StepEvent) -> None:
        if isinstance(event.made, FindingState):
            append_new(event.made)

    step = Step("judge", {}, listen)
    async with find_resources(by.opened, request, by.settings, by.model) as resources:
        state = FindingState(question, subject=resources.conditions.remaining, papers=papers)
        append_new(await judge(state, resources, step))
    if len(left) == len(candidates):
        for part in step.walk():
            if part.failure:
                raise part.failure
        raise SourceFailed("; ".join(dict.fromkeys(step.all_notes())) or "nothing was judged")
    return len(left)
