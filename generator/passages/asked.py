"""What a way over passages is asked: checked, with the paper that the question is about."""

from dataclasses import dataclass

from generator.request import AskRequest, Resources
from generator.tracing.steps import Step
from retriever.constraints.parsing import Constraints
from retriever.papers.topics import Topic, find_topic
from retriever.requests.request import SearchRequest, check_question

OF_PASSAGES = frozenset({"topic"})  # of the options of a request, what ways over passages use


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question to passages, and the paper that it is about, if it names one."""

    request: AskRequest
    resources: Resources
    topic: Topic | None

    @property
    def text(self) -> str:
        """The question."""
        return self.request.question

    def search(self, text: str, k: int) -> SearchRequest:
        """Return the request for k passages for a text, under the filters of the question."""
        # Of other texts than the question no constraints are read.
        constraints = self.request.constraints if text == self.text else Constraints()
        filters = self.request.filters
        return SearchRequest(
            text, k=k, filters=filters, constraints=constraints, collapse=False, evidence=True
        )


async def open_question(parent: Step, request: AskRequest, resources: Resources) -> PassageQuestion:
    """Check a question to passages; the paper that it names is looked up as a step.

    Raises:
        BadQuestion: a question that cannot be searched for.
        BadFilter: a title of several papers.
        UnknownPaper: the index contains no paper of that id or title.
    """
    check_question(request.question)
    if request.topic is None:
        return PassageQuestion(request, resources, None)
    with parent.step("topic", topic=request.topic) as step:
        topic = await find_topic(resources.index, request.topic, request.filters)
        step.output = {"doc_id": topic.doc_id, "title": topic.title, "passages": topic.passages}
    return PassageQuestion(request, resources, topic)
