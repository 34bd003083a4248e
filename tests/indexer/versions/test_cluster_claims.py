"""What a server may claim of what it holds: an index that never ends, a glossary of endless pieces."""

import base64
import itertools
import json
from contextlib import contextmanager

import pytest

from indexer.analysis.packing import PassageTokens
from indexer.errors import EngineRefused, IndexDamaged
from indexer.files.schema import StoredPassage
from indexer.settings import ElasticsearchSettings
from tests.http_server import Handler, serving

pytest.importorskip("elasticsearch")
from indexer.versions.cluster import companions
from indexer.versions.cluster.connection import Cluster
from indexer.versions.cluster.documents import to_document
from indexer.versions.cluster.reading import passages_of_index, passages_of_version

PASSAGES = 5


@contextmanager
def cluster_that_says(answers):
    """Connect to a server that answers each request with the next of the answers."""

    class Server(Handler):
        def get(self):
            body = json.dumps(next(answers)).encode()
            self.send_response(200)
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        post = get

    with serving(Server) as url, Cluster(ElasticsearchSettings(url=url)) as cluster:
        yield cluster


def page(sequence):
    """Return the answer to a search that finds one passage."""
    passage_id = f"P{sequence:04}"
    passage = StoredPassage(passage_id, passage_id, "quokka", "islands", "en", "abstract", record="{}")
    tokens = PassageTokens.of("quokka", "islands", "", lambda _: [])
    document = to_document(passage, tokens, b"", sequence)
    return {"hits": {"hits": [{"_id": "x", "_source": document, "sort": [sequence, passage_id]}]}}


def test_a_page_that_comes_again_ends_the_reading():
    with cluster_that_says(itertools.chain(map(page, range(3)), itertools.repeat(page(2)))) as cluster:
        passages = passages_of_index(cluster, "papers@000001")
        with pytest.raises(EngineRefused, match="papers@000001"):
            list(itertools.islice(passages, 100))


def test_of_a_version_no_more_passages_are_read_than_were_written():
    with cluster_that_says(map(page, itertools.count())) as cluster:
        passages = passages_of_version(cluster, "papers@000001", PASSAGES)
        assert [passage.passage_id for passage in itertools.islice(passages, PASSAGES)][-1] == "P0004"
        with pytest.raises(IndexDamaged, match="more than the 5 passages written"):
            next(passages)


@pytest.mark.parametrize("data", [b"", b"a" * 1_000])
def test_of_a_glossary_no_more_is_taken_than_was_written(tmp_path, data):
    piece = {"_source": {"data": base64.b64encode(data).decode()}}
    kept = companions.Companion("papers@000001", "glossary.sqlite")
    note: companions.CompanionNote = {"pieces": 10**9, "sha256": "0" * 64}
    with cluster_that_says(itertools.repeat(piece, 100)) as cluster:
        path = tmp_path / "glossary"
        with pytest.raises(IndexDamaged, match="is damaged"):
            cluster.run(companions.download(cluster.client, "glossaries", kept, note, 5_000, path))
    assert list(tmp_path.iterdir()) == []
