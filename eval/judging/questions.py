"""Questions of a benchmark: seeds from a file, and questions that a model derives from them (SPAR, 4.2)."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from base.errors import InvalidCall
from eval.judging.calls import MOST_DERIVED
from eval.judging.records import Question
from generator.llm import CutAt, LanguageModel, Reply
from generator.model_calls.model_step import FromModel, ModelStep, UnusableReply
from generator.prompts import Prompt, load_prompt
from indexer.corpora.papers import language_of

PROMPT = "benchmark_questions"

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), CutAt(500)]


class DerivedQuestions(BaseModel):
    """Reply schema."""

    questions: Annotated[list[Text], Field(min_length=1, max_length=4 * MOST_DERIVED)]


def new_seeds(seeds: Mapping[str, str], known: Mapping[str, Question], call: int) -> list[Question]:
    """Return the seeds that are not known yet.

    Raises:
        InvalidCall: a known query_id has another question.
    """
    for query_id, question in seeds.items():
        if query_id in known and known[query_id].question != question:
            raise InvalidCall(
                f"{query_id} is {known[query_id].question[:100]!r} in this benchmark, "
                f"and {question[:100]!r} in the file",
                remedy="give the changed question another query_id",
            )
    return [
        Question(query_id, question, "seed", call)
        for query_id, question in seeds.items()
        if query_id not in known
    ]


def prompt_of(question: str) -> Prompt:
    """Return the prompt in the language of a question."""
    return load_prompt(PROMPT, language_of(question))


async def derive(
    seed: Question, count: int, known: Sequence[Question], model: LanguageModel, call: int
) -> list[Question]:
    """Derive questions from a seed S1 by a model, until it has `count`; their ids are S1.1, S1.2 and so on.

    The prompt requests `count` questions, and known ones are left out.

    Raises:
        ModelFailed: the model failed, or wrote no question that is not known.
    """
    texts = {_letters(each.question) for each in known}
    taken = {each.query_id for each in known}
    missing = count - sum(each.seed == seed.query_id for each in known)

    async def read(reply: Reply[DerivedQuestions]) -> Sequence[str]:
        new: dict[str, str] = {}
        for text in reply.value.questions:
            if (letters := _letters(text)) and letters not in texts:
                new.setdefault(letters, " ".join(text.split()))
        if not new:
            raise UnusableReply("repeated known questions")
        return list(new.values())[:missing]

    step: ModelStep[DerivedQuestions, Sequence[str]] = ModelStep(
        "benchmark-questions",
        prompt_of(seed.question),
        {"count": str(count), "question": seed.question},
        DerivedQuestions,
        read=read,
        fallback="no further questions",
        otherwise=_none,
    )
    made: FromModel[Sequence[str]] = await step.call(model)
    numbers = (number for number in range(1, len(taken) + count + 1))
    ids = (name for number in numbers if (name := f"{seed.query_id}.{number}") not in taken)
    return [
        Question(query_id, text, "extended", call, seed.query_id)
        for query_id, text in zip(ids, made.value, strict=False)
    ]


async def _none() -> Sequence[str]:
    return ()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
