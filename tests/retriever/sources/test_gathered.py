"""Sources searched and asked as an index is: two indexes of this project, and servers that fail."""

import asyncio
import json
import re
from contextlib import closing

import httpx
import pytest

from generator.pipeline import answer_question
from generator.ways import make_request
from indexer.settings import EncoderSettings, IndexerSettings
from retriever.errors import SourceFailed
from retriever.index import open_index
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from retriever.sources import SourceFeatures
from retriever.sources.gathered import SharedModels, index_of_sources
from retriever.sources.kinds.elasticsearch import ElasticsearchSource, Settings
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, settings_of, shrag
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import ROOT, build, write_jsonl

pytest_plugins = ["tests.generator.sample_index"]

RIGHT = {KOREAN: "SAMPLE-NUR-001", ENGLISH: "SAMPLE-BAT-011"}


CONFIGURED = f"""
[sources.{NAME}]
kind = "index"

[sources.gone]
kind = "elasticsearch"
url = "http://127.0.0.1:9"
index = "x"
fields.title = "t"
"""


class Uncounted(IndexSource):
    """An index that counts no words, as most services."""

    features = SourceFeatures()


THEIRS = Settings.model_validate(
    {"kind": "elasticsearch", "url": "http://127.0.0.1:9200", "index": "x", "fields": {"title": "t"}}
)


def failing(name, response):
    return ElasticsearchSource(name, THEIRS, transport=httpx.MockTransport(lambda _: response))


def asked(settings, sources, question):
    """Ask sources as one index; `question` is a function of the index."""

    async def run():
        limited = [LimitedSource(source, 240) for source in sources]
        with closing(SharedModels(settings)) as models:
            async with index_of_sources(limited, models) as index:
                return await question(index)

    return asyncio.run(run())


def searched(sample_home, sources, question, **request):
    made = SearchRequest(question, **({"k": 5} | request))
    return asked(
        IndexerSettings(home=sample_home), sources, lambda index: search(index, made, RetrieverSettings())
    )


@pytest.mark.parametrize("method", ["shrag", "paper", "or"])
@pytest.mark.parametrize("kind", [IndexSource, Uncounted])
@pytest.mark.parametrize("question", RIGHT)
def test_every_method_finds_the_right_paper(sample, sample_home, method, kind, question):
    result = searched(sample_home, [kind("ours", sample)], question, method=method)
    assert RIGHT[question] in [hit.doc_id for hit in result.hits]
    assert result.hits[0].as_record()["found_in"] == [{"source": "ours", "id": result.hits[0].doc_id}]
    assert result.hits[0].as_record()["snippet"]


def test_a_source_that_counts_gives_the_keywords_that_its_index_gives(sample, sample_home):
    result = searched(sample_home, [IndexSource("ours", sample)], ENGLISH)
    itself = asyncio.run(search(sample, SearchRequest(ENGLISH, k=5), RetrieverSettings()))
    assert result.strategy
    assert itself.strategy
    assert result.strategy.keywords("en") == itself.strategy.keywords("en")
    assert [query.name for query in result.queries] == [query.name for query in itself.queries]


@pytest.mark.parametrize(
    ("others", "topic"),
    [
        ([], "SAMPLE-BAT-011"),
        (["theirs"], "ours:SAMPLE-BAT-011"),
        ([], "Silica aerogel sheets slow the propagation of thermal runaway in NCM pouch modules"),
    ],
)
def test_the_paper_that_a_question_is_about_is_fetched(sample, sample_home, others, topic):
    given = settings_of(sample_home)
    request = make_request(given, "Who wrote about geese?", way="paper-qa-1", topic=topic)
    sources = [IndexSource(name, sample) for name in ("ours", *others)]
    found = asked(given.indexer, sources, lambda index: answer_question(index, request, given))
    assert found.evidence[0].doc_id.endswith("SAMPLE-BAT-011")


def test_a_paper_that_no_source_knows_is_requested_once(sample_home):
    requests = []

    def handler(request):
        requests.append(b"X-1" in request.content)
        return httpx.Response(200, json={"hits": {"hits": []}})

    async def twice(index):
        return [await asyncio.to_thread(index.engine.records, (), ["X-1"]) for _ in range(2)]

    theirs = ElasticsearchSource("theirs", THEIRS, transport=httpx.MockTransport(handler))
    assert asked(IndexerSettings(home=sample_home), [theirs], twice) == [({}, {})] * 2
    assert requests.count(True) == 1


def test_a_paper_of_two_sources_comes_once(sample, sample_home, tmp_path):
    lines = (ROOT / "sample" / "papers.jsonl").read_text("utf-8").splitlines()
    [paper] = [record for record in map(json.loads, lines) if record["id"] == RIGHT[ENGLISH]]
    build(tmp_path, write_jsonl(tmp_path / "few.jsonl", [paper | {"id": "OURS-1"}]), name="few")
    with open_index(IndexerSettings(home=tmp_path), "few") as few:
        sources = [IndexSource("all", sample), IndexSource("few", few)]
        result = searched(sample_home, sources, ENGLISH)
    both = [hit for hit in result.hits if len({each["source"] for each in hit.paper["found_in"]}) > 1]
    assert [hit.doc_id for hit in both] == [f"all:{RIGHT[ENGLISH]}"]
    assert both[0].paper["found_in"][1] == {"source": "few", "id": "OURS-1"}


def test_a_source_that_fails_is_a_note_unless_all_fail(sample, sample_home):
    theirs = failing("theirs", httpx.Response(301, headers={"Location": "/"}))
    result = searched(sample_home, [IndexSource("ours", sample), theirs], ENGLISH)
    assert result.hits[0].doc_id.startswith("ours:")
    assert any("theirs" in note and "redirect" in note for note in result.notes)
    with pytest.raises(SourceFailed, match="redirect"):
        searched(sample_home, [theirs], ENGLISH)
    for nothing in ("🙂", "the"):  # nobody is asked
        result = searched(sample_home, [theirs], nothing)
        assert result.hits == ()
        assert result.notes


def test_filters_and_the_expert_language_hold(sample, sample_home):
    filters = Filters(years=Range(2023, None), lang="ko")
    result = searched(sample_home, [IndexSource("ours", sample)], KOREAN, filters=filters)
    assert result.hits
    assert all((hit.passage.year or 0) >= 2023 and hit.passage.lang == "ko" for hit in result.hits)
    result = searched(sample_home, [IndexSource("ours", sample)], "methane NOT review", method="boolean")
    assert result.hits
    assert all("methane" in (hit.passage.title + hit.passage.text).casefold() for hit in result.hits)


def test_a_source_is_sent_words_as_they_are_written_not_their_stems(sample_home):
    sent = set()

    def handler(request):
        texts = re.findall(r'"query": "([^"]+)"', request.content.decode())
        sent.update(texts)
        answer = {"hits": {"hits": [{"_id": "B1", "_source": {"t": "Emissions of methane"}}]}}
        responses = [answer] * (request.content.count(b"\n") // 2)
        return httpx.Response(200, json=answer | {"responses": responses})

    theirs = ElasticsearchSource("theirs", THEIRS, transport=httpx.MockTransport(handler))
    searched(sample_home, [theirs], "Do batteries reduce methane emissions, 배터리를 재활용하면?")
    assert {"batteries", "methane", "emissions", "배터리"} <= sent
    assert not {"batteri", "emiss", "methan"} & sent


def test_passages_are_encoded_once_and_remembered(sample, sample_home):
    request, texts = SearchRequest(ENGLISH, k=5), []
    ours = [LimitedSource(IndexSource("ours", sample), 240)]

    async def twice(settings):
        results = []
        with closing(SharedModels(settings)) as models:
            for _ in range(2):
                async with index_of_sources(ours, models) as index:
                    results.append(await search(index, request, RetrieverSettings()))
                texts.append(len(server.texts))
        return results

    with embedding_server() as server:
        encoder = EncoderSettings.model_validate(server.settings())
        first, second = asyncio.run(twice(IndexerSettings(home=sample_home, encoder=encoder)))
    assert first.applied.vectors == "word-counts"
    assert [hit.doc_id for hit in first.hits] == [hit.doc_id for hit in second.hits]
    assert texts[0] > 20
    assert texts[1] == texts[0]


@pytest.fixture
def configured(sample_home, tmp_path):
    path = tmp_path / "shrag.toml"
    path.write_text(CONFIGURED)
    return path


def test_search_and_ask_take_sources_by_name(sample_home, configured):
    done = shrag("search", ENGLISH, "--source", NAME, "--json", home=sample_home, config=configured)
    assert (done.returncode, done.stderr) == (0, "")
    itself = json.loads(shrag("search", ENGLISH, "--name", NAME, "--json", home=sample_home).stdout)
    record = json.loads(done.stdout)
    assert record.keys() == itself.keys()
    assert record["hits"][0].keys() - itself["hits"][0].keys() == {"found_in", "url"}
    done = shrag("ask", KOREAN, "--source", f"{NAME},gone", "--json", home=sample_home, config=configured)
    assert done.returncode == 0
    assert any("'gone'" in note for note in json.loads(done.stdout)["notes"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["search", ENGLISH, "--source", "gone"], 1, "source 'gone'"),
        (["search", ENGLISH, "--source", "other"], 2, "there are gone, sample"),
        (["search", ENGLISH, "--source", NAME, "--name", NAME], 2, "--source excludes --name"),
        (["ask", ENGLISH, "--source", "no.toml"], 2, "no.toml cannot be read"),
        (["ask", ENGLISH, "--source", " ,"], 2, "no name is given"),
        (["sources", "check", "gone"], 1, ""),
        (["sources", "check", NAME], 0, ""),
        (["sources", "list"], 0, ""),
    ],
)
def test_commands_say_what_is_wrong(sample_home, configured, arguments, code, said):
    done = shrag(*arguments, home=sample_home, config=configured)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
