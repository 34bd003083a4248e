"""A run from its topics to its files; ranked questions are kept until all is written."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from base.files.output_files import write_output
from base.progress import Progress
from base.terminal.output import json_text
from eval.kept import keeping, kept_path
from eval.kinds_of_runs import KindOfRun
from eval.manifest import file_record, made_with, models_record, software
from eval.places import Places, open_places
from eval.ranking import RankedTopic, configuration, rank_all
from eval.runs import write_run
from eval.score_commands import manifest_path
from eval.strategies import RecordedStrategies, strategist_record
from generator.pipeline import Settings


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The inputs of a run, and its output."""

    topics: Mapping[str, str]
    topics_file: Mapping[str, Any]  # path and SHA-256
    name: str  # of the index, "" with sources
    sources: Sequence[str]
    kind: Callable[[Places], KindOfRun]
    asks_model: bool
    recorded: RecordedStrategies | None
    out: Path
    is_stream: bool  # a pipe has no files next to it
    restart: bool  # ignore kept questions


async def make_run(
    plan: RunPlan, settings: Settings, progress: Progress
) -> tuple[dict[str, Any], dict[str, RankedTopic], int]:
    """Rank the questions that are not kept yet, and write the run and its manifest.

    Manifests of repeated runs differ in `started` and `seconds` only. Returns the manifest, the ranked
    questions, and the number of questions that were ranked in this call.

    Raises:
        InvalidCall: the kept questions next to `out` belong to another run.
        FileBusy: another process is making this run.
        OutputNotWritten: the disk is full, or permission is missing.
        Exception: errors of opening an index or sources, and of `rank_all`.
    """
    begun = time.perf_counter()
    model = settings.language_model() if plan.asks_model else None
    async with AsyncExitStack() as opened:
        of = await opened.enter_async_context(open_places(plan.name, plan.sources, settings))
        synonyms = settings.retriever.synonyms
        synonyms_file = file_record(synonyms) if synonyms else None
        kind = plan.kind(of)
        if model:
            await opened.enter_async_context(model)
        llm = model.settings if model else None
        kept = None
        if not plan.is_stream:
            published = of.index.manifest.published if of.index else ""
            inputs = {
                "topics": plan.topics_file["sha256"],
                "synonyms": (synonyms_file or {}).get("sha256"),
                "strategies": plan.recorded.record["sha256"] if plan.recorded else None,
            }
            request = {"method": kind.name, "k": kind.k, "unit": kind.unit, **kind.request}
            made = made_with({**of.record, "published": published}, request, inputs, settings, llm)
            place = kept_path(plan.out)
            kept = opened.enter_context(
                keeping(place, made, RankedTopic, len(plan.topics), restart=plan.restart)
            )
        known = dict(kept.topics) if kept else {}

        def keep(query_id: str, topic: RankedTopic) -> None:
            if kept and topic.ranking is not None:  # another one is repeated
                kept.keep(query_id, topic)

        async def rank_one(query_id: str, question: str) -> RankedTopic:
            topic = await kind.rank(query_id, question, model)
            return replace(topic, failures=(*topic.failures, *of.failures()))

        at_once = llm.concurrency if llm and kind.asks_at_once else 1
        topics = await rank_all(
            plan.topics, rank_one, known=known, keep=keep, at_once=at_once, progress=progress
        )
        run = {query_id: topic.ranking for query_id, topic in topics.items() if topic.ranking is not None}
        digest = write_run(plan.out, run, tag=f"{of.record['name']}-{kind.name}")
        applied, deviations = configuration(topics)
        models = models_record(settings.indexer, applied)
        versions = software(models=bool(models))
        manifest = {
            "shrag": versions.pop("shrag"),
            "index": of.record,
            "method": kind.name,
            "k": kind.k,
            "unit": kind.unit,
            "strategist": strategist_record(plan.recorded, llm, topics),
            "applied": applied | kind.applied | {"synonyms": synonyms_file},
            "models": models,
            "deviations": deviations,
            "failed": {key: "; ".join(of.failures) for key, of in topics.items() if of.ranking is None},
            "topics": {**plan.topics_file, "questions": len(topics)},
            "run": {
                "path": str(plan.out),
                "sha256": digest,
                "hits": sum(map(len, run.values())),
                "without_hits": {key: topic.reason for key, topic in topics.items() if topic.reason},
            },
            **versions,
            "started": kept.started if kept else datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - begun, 3),
        }
        if kept:
            write_output(manifest_path(plan.out), (json_text(manifest, indent=1) + "\n").encode())
            if not any(topic.failures for topic in topics.values()):
                kept.discard()
    return manifest, topics, sum(topic is not known.get(query_id) for query_id, topic in topics.items())
