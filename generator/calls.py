"""What a question asks the model for, and what takes its place where that fails."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from generator.answers import Answer
from generator.errors import ModelAnswerInvalid, ModelFailed
from generator.keywords import keywords_from_model
from generator.llm import LanguageModel, OnText, Reply
from generator.written import written_answer
from retriever.hits import SearchResult
from retriever.index import SearchIndex
from retriever.keywords import Keyword


@dataclass(slots=True)
class ModelCalls:
    """The calls of one question: replies for the trace, failures for the reader, the time."""

    index: SearchIndex
    model: LanguageModel | None
    on_text: OnText | None = None
    records: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    milliseconds: dict[str, float] = field(default_factory=dict)

    async def keywords(self, question: str) -> tuple[Keyword, ...] | None:
        """Return the model's keywords; None, where it fails or there is none, for those from statistics."""
        if self.model is None:
            return None
        try:
            with self._timed("keywords"):
                found = await keywords_from_model(question, self.model, self.index.analyzer, self.on_text)
        except ModelFailed as error:
            self._failed("keywords", error, "keywords from statistics")
            return None
        self._answered("keywords", found.reply, found.prompt_version)
        return found.keywords

    async def answer(self, result: SearchResult) -> Answer | None:
        """Return the model's answer; None, where it fails or there is no evidence, for the extractive one."""
        if self.model is None or not result.hits:
            return None
        evidence = [hit.passage for hit in result.hits]
        try:
            with self._timed("answer"):
                written = await written_answer(
                    result.question, evidence, self.model, self.index, self.on_text
                )
        except ModelFailed as error:
            self._failed("answer", error, "extractive answer")
            return None
        self._answered("answer", written.reply, written.prompt_version)
        self.records["answer"]["context"] = written.fitted.as_record()
        if written.fitted.note:
            self.notes.append(written.fitted.note)
        return written.answer

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        """Note the time that a call took, failed or not."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.milliseconds[f"{name} (model)"] = (time.perf_counter() - started) * 1000

    def _answered(self, name: str, reply: Reply[Any], prompt_version: int) -> None:
        self.records[name] = reply.as_record() | {"prompt_version": prompt_version}

    def _failed(self, name: str, error: ModelFailed, instead: str) -> None:
        self.notes.append(f"{instead}, the model failed: {error}")
        self.records[name] = {"error": str(error)}
        if isinstance(error, ModelAnswerInvalid):
            self.records[name]["text"] = error.text
