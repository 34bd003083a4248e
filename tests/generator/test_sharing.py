"""One model held open for many questions: places, the circuit, twenty at once."""

import asyncio

import httpx

from generator.pipeline import AskRequest, answer_question
from generator.strategist import reply_schema
from tests.generator.language_model import says, settings
from tests.generator.sample_index import KOREAN, settings_of
from tests.generator.test_pipeline import ANSWER, KEYWORDS, UNUSED

pytest_plugins = ["tests.generator.sample_index"]

MESSAGES = [{"role": "user", "content": "강"}]
KEYWORD_LISTS = reply_schema(("ko", "en"), 2, 5)


class Counting(httpx.AsyncBaseTransport):
    """A server that says how many calls were with it at a time; each waits for the others' turn."""

    def __init__(self, answer_to):
        self.answer_to = answer_to
        self.now = self.most = self.all = 0

    async def handle_async_request(self, request):
        if not request.url.path.endswith("/chat/completions"):
            return httpx.Response(404)
        self.now += 1
        self.all += 1
        self.most = max(self.most, self.now)
        for _ in range(20):
            await asyncio.sleep(0)
        self.now -= 1
        return self.answer_to(await request.aread())


def completion_of(content):
    return says(KEYWORDS if b'"name": "keywords"' in content else ANSWER)


def test_twenty_questions_at_once_share_one_model(sample):
    server = Counting(completion_of)
    given = settings_of(UNUSED, llm=settings(concurrency=8))

    async def ask():
        async with given.language_model(server) as model:
            calls = [answer_question(sample, AskRequest(KOREAN), given, model=model) for _ in range(20)]
            return await asyncio.gather(*calls)

    answered = asyncio.run(ask())
    assert {asked.answer.written_by for asked in answered} == {"tiny-writer-7b"}
    assert server.all == 40
    assert server.most <= 8
    assert len({tuple(hit.passage_id for hit in asked.evidence) for asked in answered}) == 1
