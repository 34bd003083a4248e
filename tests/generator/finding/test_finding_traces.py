"""Traces of a search for papers: shown; and a search that is replayed."""

import json

import pytest

from generator.finding.console import MOST_LINES
from generator.tracing import Trace
from tests.generator.finding_model import FindingModel, serving_model
from tests.generator.sample_index import NAME, shrag, timeless

REVIEW = "recovering cobalt of spent batteries: a review"
NOWHERE = {"llm__base_url": "http://127.0.0.1:9/v1", "llm__model": "tiny-writer", "llm__stream": "false"}


def searched(home, path, *arguments, question=REVIEW, **environment):
    """Search with a trace; return what `--json` printed."""
    asked = ("find-papers", question, "--name", NAME, "--trace", path, "--json", *arguments)
    done = shrag(*asked, home=home, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def traces(sample_home, tmp_path_factory):
    """Save the trace of a search."""
    folder = tmp_path_factory.mktemp("traces")
    searched(sample_home, folder / "one.json", "--threshold", 0.2)
    return folder


def test_a_trace_shows_steps_with_times_the_tree_and_the_papers(traces, tmp_path):
    record = Trace.load(traces / "one.json").record
    done = shrag("trace", "show", traces / "one.json", home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == REVIEW
    for step in ("understanding", "retrieval", "judgement", "refchain", "reranking"):
        assert any(line.strip().startswith(f"{step}: ") and " ms" in line for line in lines)
    query = lines.index(f"{REVIEW} (question)")
    assert lines[query + 1].startswith("    ")
    for paper in record["papers"]:
        assert any(f" {paper['id']} {paper['title']}" in line for line in lines)


def test_what_is_shown_of_a_large_tree_is_bounded_and_steers_no_terminal(traces, tmp_path):
    papers = [
        {"paper": f"P{number}", "title": "\x1b[2J" + "t" * 5_000, "score": 0.5} for number in range(3_000)
    ]
    tree = [{"query": "wide\n\u202e", "kind": "question", "papers": papers}]
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(json.loads((traces / "one.json").read_text()) | {"tree": tree}), "utf-8")
    done = shrag("trace", "show", path, home=tmp_path)
    assert done.returncode == 0
    assert not {"\x1b", "\u202e"} & {*done.stdout}
    lines = done.stdout.splitlines()
    assert len(lines) < 2 * MOST_LINES
    assert max(map(len, lines)) < 2_000


@pytest.mark.parametrize(
    "budget",
    [(), ("--max-tokens", 20_000, "--without", "query-writing")],
)
def test_a_recorded_search_is_replayed_without_the_model(sample_home, tmp_path, budget):
    cache = {"cache__file": tmp_path / "calls.sqlite"}
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    model = FindingModel()
    with serving_model(model) as settings:
        first = searched(sample_home, one, *budget, **settings, **cache, cache__mode="record")
    assert model.calls["judgement"] > 0
    again = searched(sample_home, two, *budget, **NOWHERE, **cache, cache__mode="replay")
    assert again["papers"] == first["papers"]
    assert {**again["spent"], "seconds": 0} == {**first["spent"], "seconds": 0}
    assert again["complete"] == first["complete"] == (not budget)
    assert timeless(Trace.load(one).record) == timeless(Trace.load(two).record)
