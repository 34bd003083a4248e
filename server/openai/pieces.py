"""A chat's answer in pieces: text as it arrives, then the parts that need the whole answer.

A streamed completion sends the pieces one by one, a plain one joins them; the text is the same.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeAlias

from starlette.requests import Request

from generator.answer_events import stream_answer
from generator.calls import AskCall
from generator.housekeeping import Housekeeping, answer_housekeeping
from generator.llm import LanguageModel
from generator.tracing.steps import StepEvent
from retriever.request import check_question
from server.addresses import hit_address, public_address
from server.cited_text import Citation, CitedText
from server.model_address import without_address
from server.openai.calls import Asked
from server.openai.models import Model
from server.services import Services
from server.targets import open_target
from server.transport.streams import until


@dataclass(frozen=True, slots=True)
class Admitted:
    """The first piece: the call is admitted, and work starts."""


@dataclass(frozen=True, slots=True)
class End:
    """The last piece: the citation marks in the text, and the tokens that the model read and wrote."""

    citations: tuple[Citation, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0


Piece: TypeAlias = Admitted | str | End


async def pieces_of(
    request: Request, services: Services, model: Model, asked: Asked
) -> AsyncGenerator[Piece, None]:
    """Yield the pieces of an answer; closing the generator ends the work, including the model's.

    Raises:
        ServerError: the call is not admitted, or the server stops.
        RetrieverError, ResourceError: the question is invalid, or the index cannot be opened.
    """
    async with services.gate.admit(request, "ask"):
        if asked.housekeeping:
            arriving = until(services.stopping, _of_housekeeping(asked.housekeeping, services.model))
        else:
            arriving = _of_question(request, services, model, asked)
        async with aclosing(arriving):
            async for piece in arriving:
                yield piece


async def _of_housekeeping(asked: Housekeeping, model: LanguageModel | None) -> AsyncGenerator[Piece, None]:
    yield Admitted()
    yield await answer_housekeeping(asked, model)
    yield End()


async def _of_question(
    request: Request, services: Services, model: Model, asked: Asked
) -> AsyncGenerator[Piece, None]:
    of = await open_target(services, model.index, model.sources)
    check_question(asked.question)
    ask = AskCall(question=asked.question, way=asked.way, hops=asked.hops).request(services.settings)
    public = public_address(services.server, request)
    text = CitedText(asked.question, lambda hit: hit_address(hit, of.index, public))
    used = _Tokens()
    yield Admitted()
    arriving = stream_answer(
        of.opened,
        replace(ask, turns=asked.turns),
        services.settings,
        model=services.model,
        listener=used.listen,
    )
    async with aclosing(until(services.stopping, arriving)) as events:
        async for event in events:
            data = without_address({**event.data}, services.settings)
            if added := text.take(replace(event, data=data)):
                yield added
    yield End(tuple(text.citations), used.prompt, used.completion)


class _Tokens:
    """Count the tokens of the model's calls, if its server reports them."""

    def __init__(self) -> None:
        self.prompt = self.completion = 0

    def listen(self, event: StepEvent) -> None:
        """Add the tokens of a finished step."""
        if event.kind == "finished" and (call := event.step.model_call):
            self.prompt += call.get("prompt_tokens") or 0
            self.completion += call.get("completion_tokens") or 0
