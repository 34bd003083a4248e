"""An index that is built with a user's dictionary on a real server."""

import pytest

from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.ingest import IngestRequest, build_index
from retriever.index import open_index
from tests.indexer.made_corpora import write_jsonl
from tests.service.elasticsearch.own_prefix import own_prefix

DICTIONARY = parse_user_dictionary(
    "한밭과학기술정보원 한밭 과학기술 정보원\n연구데이터플랫폼\n".encode(), "terms.txt"
)
PAPERS = [
    {"id": "A", "title": "한밭과학기술정보원의 활동", "abstract": "연구데이터플랫폼을 운영한다."},
    {"id": "B", "title": "벼의 생육", "abstract": "논에 물을 대었다."},
]


@pytest.fixture
def settings_for(elasticsearch):
    with own_prefix(elasticsearch) as settings_for:
        yield settings_for


def test_an_index_is_built_updated_and_opened_with_the_dictionary(settings_for, tmp_path):
    settings = settings_for(tmp_path / "home")
    corpus = write_jsonl(tmp_path / "corpus.jsonl", PAPERS)
    request = IngestRequest(name="papers", paths=[str(corpus)], dictionary=DICTIONARY)

    build_index(request, settings)
    more = write_jsonl(tmp_path / "more.jsonl", [PAPERS[0] | {"id": "more"}])
    build_index(IngestRequest(name="papers", paths=[str(more)]), settings)

    # Another machine has nothing but the address.
    with open_index(settings_for(tmp_path / "other"), "papers") as index:
        assert index.manifest.version == 2
        assert index.manifest.dictionary == DICTIONARY.hash
        assert [token[0] for token in index.analyzer.analyze("한밭과학기술정보원")] == [
            *("한밭", "과학기술", "정보원")
        ]
