"""Sources searched and asked as an index is: two indexes of this project, and servers that fail."""

import asyncio
import json
from contextlib import closing

import httpx
import pytest

from indexer.settings import IndexerSettings
from retriever.errors import SourceFailed
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from retriever.sources import SourceFeatures
from retriever.sources.gathered import SharedModels, index_of_sources
from retriever.sources.kinds.elasticsearch import ElasticsearchSource, Settings
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, shrag

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
