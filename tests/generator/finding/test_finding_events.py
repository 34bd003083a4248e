"""Papers as they are found: what is told adds up to the result, in bounded pieces, and ends with a reader."""

import asyncio
import json
import threading
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest

from generator.budgets import Budget
from generator.finding.calls import FindRequest
from generator.finding.events import PAPERS_IN_AN_EVENT, STEPS, stream_finding
from generator.finding.finding import open_places
from generator.finding.result import LONGEST_TEXT
from generator.finding.state import FindingState, FoundBy, KnownPaper, SearchQuery, Understanding
from indexer.corpora.papers import Paper
from retriever.sources.merging import MergedPaper
from tests.generator.finding.test_finding_ends_early import JUDGED, WaitsInTheMiddle
from tests.generator.finding_model import FindingModel, serving_model
from tests.generator.language_model import settings as model_settings
from tests.generator.sample_index import ENGLISH, NAME, settings_of

REVIEW = FindRequest("cobalt of spent batteries: a review", rounds=2, layers=2)


def stream(home, request, *, model=None, state=None):
    """Search, and return the events."""
    given = settings_of(home, **({"llm": model_settings()} if model else {}))

    async def run():
        async with AsyncExitStack() as opening:
            opened = await opening.enter_async_context(open_places(NAME, (), given))
            asked = model and await opening.enter_async_context(given.language_model(model.transport))
            arriving = stream_finding(opened, request, given, state=state, model=asked)
            events = await opening.enter_async_context(aclosing(arriving))
            return [event async for event in events]

    return asyncio.run(run())


def added_up(events):
    """Return queries by text and papers by id, as they stand behind the last event."""
    queries: dict[str, Any] = {}
    papers: dict[str, Any] = {}
    for event in events:
        if event.kind == "queries":
            queries |= {query["text"]: query for query in event.data["queries"]}
        elif event.kind == "papers":
            papers |= {paper["id"]: paper for paper in event.data["papers"]}
    return queries, papers


@pytest.mark.parametrize("question", [ENGLISH, "🙂"])
@pytest.mark.parametrize("model", [None, FindingModel()], ids=["rules", "model"])
def test_what_is_told_adds_up_to_the_result(sample_home, question, model):
    events = stream(sample_home, REVIEW.changed(question=question), model=model)
    assert [event.kind for event in events if event.kind == "done"] == [events[-1].kind]
    steps = [event.data for event in events if event.kind == "step"]
    assert {"retrieval"} <= {step["name"] for step in steps} <= STEPS
    assert [step["round"] for step in steps] == sorted(step["round"] for step in steps)
    done = events[-1].data
    json.dumps([event.data for event in events])
    queries, papers = added_up(events)
    assert list(queries.values()) == done["queries"]
    assert len(papers) == done["known"]
    for paper in done["papers"]:
        told = papers[paper["id"]]
        assert told["relevant"]
        assert (told["score"], told["reason"]) == (paper["relevance"], paper["reason"])
        assert told["found_by"] == paper["found_by"][0]
    spent = [event.data for event in events if event.kind == "spent"][-1]
    assert (spent["relevant"], spent["known"]) == (done["relevant"], done["known"])
    assert spent["papers"] == done["spent"]["papers"]


def test_thousands_of_papers_and_long_texts_are_told_in_bounded_events(sample_home):
    question = "cobalt " * 2_500
    long = "recycling " * 400
    first = FoundBy("query", question, 1)
    papers = {
        f"P{number}": KnownPaper(
            MergedPaper(Paper(id=f"P{number}", title=f"{long}{number}", year=2020), ((NAME, f"P{number}"),)),
            (first if number < 5 else FoundBy("reference", f"P{number % 5}", number),),
        )
        for number in range(5_000)
    }
    queries = (SearchQuery(question, "question", found=("P0",)),)
    state = FindingState(
        question, subject=question, understanding=Understanding(), queries=queries, papers=papers
    )
    request = FindRequest(question, rounds=0, layers=0, budget=Budget(papers=0))
    events = stream(sample_home, request, state=state)
    told = [event for event in events if event.kind == "papers"]
    assert sum(len(event.data["papers"]) for event in told) == 5_000
    assert max(len(event.data["papers"]) for event in told) <= PAPERS_IN_AN_EVENT
    assert max(len(json.dumps(event.data)) for event in told) < 200_000
    by_query, by_id = added_up(events)
    assert max(map(len, by_query)) <= LONGEST_TEXT
    assert by_id["P0"]["found_by"]["of"] in by_query
    assert by_id["P7"]["found_by"] == {"kind": "reference", "of": "P2", "rank": 7}


def test_a_models_judgements_are_told_one_by_one_and_its_work_ends_with_the_reader(sample_home):
    model = WaitsInTheMiddle()
    judged: set[str] = set()

    request = FindRequest(ENGLISH, without=frozenset({"query-writing", "evolver"}))

    async def run(given):
        async with (
            open_places(NAME, (), given) as opened,
            aclosing(stream_finding(opened, request, given)) as events,
        ):
            async for event in events:
                papers = event.data["papers"] if event.kind == "papers" else ()
                judged.update(paper["id"] for paper in papers if paper["score"] is not None)
                if len(judged) == JUDGED:
                    break
        return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    before = set(threading.enumerate())
    with serving_model(model) as named:
        llm = model_settings(base_url=named["llm__base_url"], stream=False)
        left = asyncio.run(run(settings_of(sample_home, llm=llm)))
        model.go_on.set()
    assert len(judged) == JUDGED
    assert left == []
    begun = set(threading.enumerate()) - before
    assert [thread.name for thread in begun if "process_request" not in thread.name] == []  # of the model
