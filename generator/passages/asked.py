"""Checked questions of the ways over passages, with their topic."""

from dataclasses import dataclass

from generator.request import AskRequest, Resources
from generator.tracing.steps import Step
from retriever.constraints.parsing import Constraints
from retriever.papers.topics import Topic, find_topic
from retriever.requests.request import SearchRequest, check_question

OF_PASSAGES = frozenset({"topic"})  # options of a request that ways over passages use


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question to passages, and the paper that it is about, if any."""

    request: AskRequest
    resources: Resources
    topic: Topic | None

    @property
    def text(self) -> str:
        """Text of the question."""
        return self.request.question

    def search(self, text: str, k: int) -> SearchRequest:
        """Return the request for k passages for a text, with the filters of the question."""
        # Only the question itself has constraints.
        constraints = self.request.constraints if text == self.text else Constraints()
        filters = self.request.filters
        return SearchRequest(
            text, k=k, filters=filters, constraints=constraints, collapse=False, evidence=True
        )


async def open_question(parent: Step, request: AskRequest, resources: Resources) -> PassageQuestion:
    """Check a question to passages and look up its topic in a step.

    Raises:
        BadQuestion: the question cannot be searched for.
        BadFilter: several papers have the title.
        UnknownPaper: the index contains no paper with that id or title.
    """
    check_question(request.question)
    if request.topic is None:
        return PassageQuestion(request, resources, None)
    with parent.step("topic", topic=request.topic) as step:
        topic = await find_topic(resources.index, request.topic, request.filters)
        step.output = {"doc_id": topic.doc_id, "title": topic.title, "passages": topic.passages}
    return PassageQuestion(request, resources, topic)
