"""What an error of the client becomes; no server is asked."""

import pytest
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig
from elasticsearch import ApiError

from indexer.errors import EngineRefused
from indexer.settings import ElasticsearchSettings
from indexer.versions.cluster.connection import map_client_errors


def refusal(status: int, reason: str) -> ApiError:
    """Return the client's error for an answer of the cluster."""
    node = NodeConfig("http", "127.0.0.1", 9200)
    meta = ApiResponseMeta(status, "1.1", HttpHeaders({"X-Elastic-Product": "Elasticsearch"}), 0.1, node)
    return ApiError("refused", meta, {"error": {"type": "illegal_argument_exception", "reason": reason}})


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (400, "Unknown tokenizer type [nori_tokenizer] for [nori]", "lacks the plugin analysis-nori"),
        (400, "failed to find filter under name [nori_readingform]", "lacks the plugin analysis-nori"),
        (400, "Invalid index name [shrag-nori*]", "refused: Invalid index name"),
        (404, "no such index [shrag-nori_tokenizer@000001]", "refused: no such index"),
    ],
)
def test_only_what_nori_defines_and_the_server_does_not_know_is_a_missing_plugin(
    status: int, reason: str, expected: str
):
    with pytest.raises(EngineRefused) as error, map_client_errors(ElasticsearchSettings()):
        raise refusal(status, reason)
    assert str(error.value).startswith(f"Elasticsearch at http://127.0.0.1:9200 {expected}")
