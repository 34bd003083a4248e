"""Record what a real Elasticsearch makes of the sentences in tests/golden with the dictionary there.

python -m tests.service.elasticsearch.record_dictionary
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from elasticsearch import Elasticsearch

from indexer.analysis import DECOMPOUND_MODES, UserDictionary
from indexer.analysis.user_dictionary import read_user_dictionary
from tests.service.elasticsearch.conftest import given_access
from tests.service.elasticsearch.index_settings import analysis
from tests.service.elasticsearch.server import Access, running_server

GOLDEN = Path(__file__).parents[2] / "golden"
DICTIONARY = GOLDEN / "dictionary.txt"
SENTENCES = GOLDEN / "dictionary.jsonl"
ANALYZER = "bilingual"

Tokens = list[list[Any]]


def golden_dictionary() -> UserDictionary:
    """Return the dictionary that the sentences were read with."""
    return read_user_dictionary(DICTIONARY)


def golden_sentences() -> list[dict[str, Any]]:
    """Return the sentences with their recorded tokens."""
    with SENTENCES.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@contextmanager
def index_with(client: Elasticsearch, mode: str, dictionary: UserDictionary) -> Iterator[str]:
    """Make an index that analyses with a user's dictionary; it is gone afterwards."""
    name = f"dictionary-{uuid4().hex}"
    settings = {
        "number_of_shards": 1,
        "number_of_replicas": 0,
        "analysis": analysis(mode, dictionary.rules()),
    }
    client.indices.create(index=name, settings=settings)
    try:
        yield name
    finally:
        client.indices.delete(index=name)


def analyzed(client: Elasticsearch, index: str, text: str) -> Tokens:
    """Return [token, position, start, end] with offsets in code points."""
    units = text.encode("utf-16-le")

    def code_points(count: int) -> int:
        return len(units[: 2 * count].decode("utf-16-le"))

    answer = client.indices.analyze(index=index, analyzer=ANALYZER, text=text)
    return [
        [
            one["token"],
            one["position"],
            code_points(one["start_offset"]),
            code_points(one["end_offset"]),
        ]
        for one in answer["tokens"]
    ]


def record(access: Access) -> None:
    """Write the sentences anew with the tokens of the server."""
    dictionary = golden_dictionary()
    sentences = [{"text": one["text"]} for one in golden_sentences()]
    with Elasticsearch(access.url, basic_auth=access.basic_auth, request_timeout=240) as client:
        for mode in DECOMPOUND_MODES:
            with index_with(client, mode, dictionary) as index:
                for one in sentences:
                    one[mode] = analyzed(client, index, one["text"])
    lines = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in sentences]
    SENTENCES.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Record with the server that is given, or with one of our own."""
    names = ("URL", "USER", "PASSWORD")
    given = {name: os.environ.get(f"SHRAG_TEST_ELASTICSEARCH_{name}", "") for name in names}
    if access := given_access({name: value for name, value in given.items() if value}):
        record(access)
        return
    with running_server(heap="512m") as server:
        record(server.access)


if __name__ == "__main__":
    main()
