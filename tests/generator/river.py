"""A question about a river, asked of scripted servers."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from generator.llm import LanguageModel
from tests.generator.language_model import Scripted, settings
from tests.virtual_clock import run

RIVER = {"name": "낙동강", "length": 510}


class River(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=20)]
    length: Annotated[int, Field(ge=0)]


MESSAGES = [{"role": "user", "content": "Which river is the longest in the south of Korea?"}]


async def call(given, transport=None, schema=River, *, name="river", on_text=None):
    async with LanguageModel(given, transport=transport) as model:
        return await model.complete_json(MESSAGES, schema, name=name, on_text=on_text)


def ask(*answers, on_text=None, **changed):
    """Ask a model that gives these answers for a river; return its script and the reply."""
    script = Scripted(answers)
    return script, run(call(settings(**changed), script.transport, on_text=on_text))


def fail(error, *answers, **changed):
    """Ask in vain; return the script and the error."""
    script = Scripted(answers)
    with pytest.raises(error) as caught:
        run(call(settings(**changed), script.transport))
    return script, caught.value
