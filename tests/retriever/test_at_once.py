"""Sixty-four searches at once on one open index, from threads and tasks, answer as they do in turn.

SHRAG_TEST_AT_ONCE_S=1200 goes on for twenty minutes, as `.ci/run nightly` does.
"""

import asyncio
import itertools
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from tests.indexer.made_corpora import ROOT, build

SECONDS = float(os.environ.get("SHRAG_TEST_AT_ONCE_S", "5"))
THREADS, TASKS = 8, 8
PATIENCE_S = 240  # of the last round on a slow machine
METHODS = ("or", "paper", "shrag")


def questions() -> list[tuple[str, str]]:
    lines = (ROOT / "sample" / "topics.jsonl").read_text(encoding="utf-8").splitlines()
    return [(json.loads(line)["question"], method) for line in lines for method in METHODS]


async def answer(index, question, method):
    result = await search(index, SearchRequest(question, method), RetrieverSettings())
    record = result.as_record()
    del record["milliseconds"]
    return record


async def answer_some(index, asked):
    return await asyncio.gather(*(answer(index, question, method) for question, method in asked))


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + PATIENCE_S)
def test_searches_at_once_answer_as_in_turn(tmp_path):
    build(tmp_path, ROOT / "sample" / "papers.jsonl", name="sample")
    asked = questions()
    with open_index(IndexerSettings(home=tmp_path), "sample") as index:
        in_turn = {one: asyncio.run(answer(index, *one)) for one in asked}
    # Opened anew, so that nothing is remembered from before.
    with open_index(IndexerSettings(home=tmp_path), "sample") as index:
        rounds = itertools.count()
        until = time.monotonic() + SECONDS

        def ask_until_the_end(thread: int) -> None:
            while True:
                first = (thread + THREADS * next(rounds)) * TASKS
                some = [asked[(first + place) % len(asked)] for place in range(TASKS)]
                answers = asyncio.run(answer_some(index, some))
                assert answers == [in_turn[one] for one in some]
                if time.monotonic() > until:
                    return

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(ask_until_the_end, range(THREADS)))
