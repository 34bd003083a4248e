"""What an open index promises while versions are published: tests for whatever engine a module sets.

A module of tests imports all of this beside three fixtures: `settings_for` makes settings for a home, `spoil`
lets a version be of another analysis, `remains` lists the versions of which anything is left.
"""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexer.errors import IndexClosed, UnknownIndex
from indexer.ingest import IngestRequest, build_index
from indexer.versions.store.engines import open_store
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from tests.indexer.made_corpora import write_jsonl

NAME = "papers"
PAPERS = 5
PATIENCE_S = 240


@pytest.fixture
def settings(settings_for, tmp_path):
    made = settings_for(tmp_path / "home", keep_versions=1)
    publish(made, 1)
    return made


def publish(settings, number, **options):
    """Publish a version in which every paper names the edition."""
    titles = [f"quokka edition{number}x" for _ in range(PAPERS)]
    records = [{"id": f"P{place}", "title": title, "abstract": title} for place, title in enumerate(titles)]
    settings.home.mkdir(exist_ok=True)
    corpus = write_jsonl(settings.home.parent / f"edition-{number}.jsonl", records)
    request = IngestRequest(NAME, [str(corpus)], rebuild=True, **options)
    return build_index(request, settings).manifest.version


async def ask(index):
    return await search(index, SearchRequest("quokka", "or"), RetrieverSettings())


def edition(result):
    assert len(result.hits) == PAPERS
    [title] = {hit.passage.title for hit in result.hits}
    return int(title.removeprefix("quokka edition").removesuffix("x"))


def answered(index):
    """Ask, and return the version that answered, which holds what was published as that."""
    result = asyncio.run(ask(index))
    assert edition(result) == result.version
    return result.version


def wait_for(index, version):
    """Ask until a version answers: the pointer is not looked at for each question."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := answered(index)) != version:
        assert time.monotonic() < deadline, f"version {found} still answers"
        time.sleep(0.1)


def test_an_index_that_follows_answers_from_the_version_published_last(settings):
    with open_index(settings, NAME, follow=True) as index:
        assert answered(index) == 1
        for version in range(2, 6):
            assert publish(settings, version) == version
            assert answered(index) in (version - 1, version)
            wait_for(index, version)
        assert index.manifest.version == 5


def test_an_index_that_stays_answers_from_its_version_until_it_is_closed(settings, remains):
    with open_index(settings, NAME) as index:
        for version in range(2, 6):
            publish(settings, version)
            assert answered(index) == 1
        with open_store(settings, NAME) as store:
            assert store.versions() == [5]
        assert remains(settings) == [1, 5]
    publish(settings, 6)
    assert remains(settings) == [6]


def test_a_deleted_index_is_told_and_followed_when_it_is_made_again(settings):
    with open_index(settings, NAME, follow=True) as index:
        assert answered(index) == 1
        with open_store(settings, NAME) as store:
            store.delete()
        with pytest.raises(UnknownIndex, match=f"no index '{NAME}'"):
            wait_for(index, None)
        publish(settings, 7)  # again as version 1
        assert edition(asyncio.run(ask(index))) == 7


def test_a_version_that_cannot_be_opened_leaves_the_one_before_answering_with_a_note(settings, spoil):
    kept = settings.model_copy(update={"keep_versions": 3})
    with open_index(settings, NAME, follow=True) as index:
        assert answered(index) == 1
        publish(kept, 2)
        spoil(settings, 2)
        deadline = time.monotonic() + PATIENCE_S
        while not (notes := asyncio.run(ask(index)).notes):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert notes[0].startswith("answered by version 1: the current version cannot be opened (")
        assert answered(index) == 1
        publish(kept, 3)
        wait_for(index, 3)
        assert asyncio.run(ask(index)).notes == ()


def test_a_question_is_answered_by_one_version_though_others_are_published_meanwhile(settings):
    """Its version is closed behind it, and not before."""
    kept = settings.model_copy(update={"keep_versions": 3})
    begun, may_end = threading.Event(), threading.Event()

    async def slow(version):
        begun.set()
        await asyncio.to_thread(may_end.wait, PATIENCE_S)
        return version, await ask(version)

    with open_index(settings, NAME, follow=True) as index, ThreadPoolExecutor(1) as thread:
        asked = thread.submit(lambda: asyncio.run(index.ask(slow)))
        begun.wait(PATIENCE_S)
        publish(kept, 2)
        wait_for(index, 2)
        may_end.set()
        version, result = asked.result()
        assert (edition(result), result.version) == (1, 1)
        with pytest.raises(IndexClosed):
            asyncio.run(ask(version))
