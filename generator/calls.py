"""Calls for an answer: the options of `ask`, and the requests of the API."""

from typing import Annotated

from pydantic import Field

from base.calls import SOME_TEXT, Flag, Section, optional, with_examples
from generator.request import AskRequest, Settings, Turn
from generator.settings import HopsMode
from generator.strategist import check_strategist
from generator.ways import make_request, way_names
from retriever.calls import METHODS, QUESTION, QuestionCall, SourceNames
from retriever.methods import method_named
from retriever.papers.page import LONGEST_ID
from retriever.request import MAX_CHARACTERS, check_question

MOST_EVIDENCE = 100
MOST_EARLIER = 20  # questions


class AskCall(QuestionCall):
    """A question to answer; omitted fields use the settings."""

    model_config = with_examples({"question": QUESTION, "evidence": 3})

    sources: SourceNames = ()
    earlier: Annotated[
        tuple[Annotated[str, Field(max_length=MAX_CHARACTERS, pattern=SOME_TEXT)], ...],
        Flag(section=Section.ANSWERING, metavar="QUESTION"),
        Field(
            max_length=MOST_EARLIER,
            description="An earlier question that this one continues, the oldest first: a question without "
            "a subject gets that of the earlier one.",
            examples=[[QUESTION]],
        ),
    ] = ()
    evidence: Annotated[
        int | None,
        Flag(section=Section.ANSWERING),
        Field(
            ge=1,
            le=MOST_EVIDENCE,
            description="Papers used as evidence for the answer; default SHRAG_EVIDENCE, else 5.",
            examples=[5],
        ),
    ] = None
    hops: Annotated[
        HopsMode | None,
        Flag(section=Section.ANSWERING),
        Field(
            description="Answer in several steps: auto = if the strategy of the model has steps; default "
            "SHRAG_ASK_HOPS, else never.",
            examples=["auto"],
        ),
    ] = None
    way: Annotated[
        str | None,
        Flag(section=Section.ANSWERING, metavar="WAY"),
        optional(type="string", enum=way_names(), example="shrag"),
        Field(
            description="Texts and steps of the answer: shrag (papers), or paper-qa-1 to -8 (passages); "
            "default SHRAG_ASK_WAY, else shrag."
        ),
    ] = None
    model: Annotated[
        str | None,
        Flag(section=Section.ANSWERING, metavar="NAME"),
        optional(type="string", maxLength=LONGEST_ID, pattern=SOME_TEXT, example="Qwen/Qwen3-8B"),
        Field(description="The language model: one of SHRAG_LLM__OTHER_MODELS; default SHRAG_LLM__MODEL."),
    ] = None
    topic: Annotated[
        str | None,
        Flag(section=Section.ANSWERING, metavar="PAPER"),
        optional(type="string", maxLength=LONGEST_ID, pattern=SOME_TEXT, example="SAMPLE-BAT-001"),
        Field(description="Answer from this paper's passages: its id or exact title (ways paper-qa-…)."),
    ] = None
    method: Annotated[
        str | None,
        Flag(section=Section.SEARCHING),
        optional(**METHODS, example="shrag"),
        Field(
            description="Search method for the evidence, as in `search`; default SHRAG_ASK_METHOD, else "
            "shrag."
        ),
    ] = None

    def request(self, settings: Settings) -> AskRequest:
        """Return the request of the generator.

        Raises:
            BadQuestion, BadFilter, UnknownWay, UnknownModel, ModelNotConfigured: the request is invalid.
        """
        check_question(self.question)
        settings.with_chosen_model(self.model)  # raises UnknownModel
        check_strategist(self.strategist, settings)
        values = {
            "filters": self.filters(),
            "turns": tuple(Turn("user", question) for question in self.earlier),
        }
        asked = make_request(settings, **self.values_for(AskRequest) | values)
        method_named(asked.method)  # raises BadFilter for an unknown method
        return asked
