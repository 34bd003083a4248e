"""A language model that answers every call with the same keywords, and the questions of the sample."""

import json
import threading

import pytest

from tests.http_server import Handler, serving
from tests.indexer.made_corpora import ROOT

TOPICS = ROOT / "sample" / "topics.jsonl"
QUESTIONS = [json.loads(line)["question"] for line in TOPICS.read_text("utf-8").splitlines()]
KEYWORDS = json.dumps({"ko": ["논", "메탄"], "en": ["methane", "paddy"]})


class KeywordModel:
    """A model's server; `on_call` is told how many calls there were, and may return a status that fails."""

    def __init__(self):
        self.prompts = []
        self.settings = {}
        self.on_call = lambda _: 200

    def questions(self):
        return [question for prompt in self.prompts for question in QUESTIONS if question in prompt]


@pytest.fixture
def model():
    model, lock = KeywordModel(), threading.Lock()

    class Server(Handler):
        def post(self):
            prompt = self.asked()["messages"][0]["content"]
            with lock:
                model.prompts.append(prompt)
            status = model.on_call(len(model.prompts))
            if status is None:
                self.close_connection = True
                return
            message = {"role": "assistant", "content": KEYWORDS}
            self.answer(
                status, {"model": "small-1", "choices": [{"message": message, "finish_reason": "stop"}]}
            )

    with serving(Server) as url:
        model.settings = {
            "llm__base_url": f"{url}/v1",
            "llm__model": "small",
            "llm__strategy_calls": "one",
            "llm__concurrency": 1,
            "llm__retries": 0,
        }
        yield model
