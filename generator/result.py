"""Results of answered questions: answer, evidence, and the trace of the steps."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from typing_extensions import TypedDict

from base.records import Recordable
from generator.answers.answer import Answer, WayResult
from generator.request import Settings
from generator.tracing.steps import StepSummary
from generator.tracing.trace import TRACE_VERSION, Trace
from retriever.answerability import THRESHOLD
from retriever.index import SearchIndex
from retriever.stages.hits import Hit, HitRecord, SearchResult


class AnswerWithEvidence(TypedDict):
    """A search result with the answer and its evidence."""

    answer: Answer
    evidence: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class AskResult(Recordable):
    """An answer, the search whose hits are its evidence, and the trace of its steps."""

    answer: Answer
    result: SearchResult
    trace: Trace

    @property
    def evidence(self) -> tuple[Hit, ...]:
        """The papers that support the answer; the nearest papers for an abstention."""
        return self.result.evidence

    def as_record(self) -> dict[str, Any]:
        """Return the JSON of `shrag ask --json`."""
        return self.result.as_record() | Recordable.as_record(self)

    def record_fields(self) -> AnswerWithEvidence:
        """Return the fields that are added to the record of the search."""
        return {"answer": self.answer, "evidence": self.evidence}


def result_of(
    index: SearchIndex, settings: Settings, found: WayResult, steps: StepSummary, started: datetime
) -> AskResult:
    """Combine answer and search of a way with the notes, times and records of its steps."""
    result = replace(
        found.search,
        notes=(*found.search.notes, *steps.notes),
        milliseconds=found.search.milliseconds | steps.milliseconds,
    )
    return AskResult(found.answer, result, _trace(index, settings, found.answer, result, steps, started))


def _trace(
    index: SearchIndex,
    settings: Settings,
    answer: Answer,
    result: SearchResult,
    steps: StepSummary,
    started: datetime,
) -> Trace:
    manifest, llm = index.manifest, settings.generator.llm
    return Trace(
        {
            "trace": TRACE_VERSION,
            "started": started.isoformat(timespec="milliseconds"),
            "index": {
                "name": manifest.name,
                "version": manifest.version,
                "engine": manifest.engine,
                "fingerprint": manifest.fingerprint,
                "vectors": manifest.vectors,
            },
            "settings": {
                **settings.retriever.model_dump(mode="json"),
                "abstention_threshold": THRESHOLD,
                "model": llm.model if llm.configured else None,
                "seed": llm.seed,
                "temperature": llm.temperature,
                "revision": llm.revision,
            },
            "request": steps.inputs,
            "steps": steps.steps,
            "likelihood": result.as_record()["likelihood"],
            "unknown_words": list(result.unknown_words),
            "answer": answer.as_record(),
            "evidence": evidence_records(result),
            "notes": list(result.notes),
            "milliseconds": round(steps.milliseconds["total"], 2),
        }
    )


class EvidenceHit(HitRecord):
    """A hit with the text of its passage and its paper's record."""

    text: str
    paper: dict[str, Any]


def evidence_records(result: SearchResult) -> list[dict[str, Any]]:
    """Return the hits as the JSON of `EvidenceHit`."""
    return [hit.as_record() | {"text": hit.passage.text, "paper": hit.paper} for hit in result.evidence]
