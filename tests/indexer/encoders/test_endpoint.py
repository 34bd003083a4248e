"""The encoder behind an endpoint, by a fake transport; what names a model, and stored vectors."""

import base64
import json
from contextlib import ExitStack, nullcontext

import httpx
import numpy as np
import pytest

from indexer.encoders import open_encoder
from indexer.encoders.endpoint import EndpointEncoder, embeddings_body
from indexer.encoders.models import hash_of
from indexer.encoders.rounding import cosines, to_storage
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings

URL = "http://encoder.test/v1"
NOT_A_NUMBER = base64.b64encode(np.array([np.nan, 1, 0], "<f4").tobytes()).decode()


class Server(httpx.AsyncBaseTransport):
    """Answers with a vector for each text, [its length, 1, 0], after the prepared answers."""

    def __init__(self, *prepared, written=lambda vector: vector):
        self.prepared = list(prepared)
        self.written = written
        self.requests = []

    async def handle_async_request(self, request):
        self.requests.append((request, json.loads(await request.aread())))
        if self.prepared and (answer := self.prepared.pop(0)) is not None:
            if isinstance(answer, Exception):
                raise answer
            return answer
        texts = self.requests[-1][1]["input"]
        rows = [{"index": n, "embedding": self.written([len(text), 1, 0])} for n, text in enumerate(texts)]
        return httpx.Response(200, json={"data": rows[::-1]})  # only the index gives the order

    @property
    def sent(self):
        return [body["input"] for _, body in self.requests[1:]]  # without the probe


OPENED = ExitStack()


def opened(server, pauses=None, **options):
    settings = EncoderSettings(provider="endpoint", base_url=URL, model="some-model", **options)

    async def sleep(seconds):
        if pauses is not None:
            pauses.append(seconds)

    encoder = EndpointEncoder(settings, server, sleep)
    OPENED.callback(encoder.close)
    return encoder


@pytest.fixture(autouse=True)
def _closed_at_the_end():
    with OPENED:
        yield


CUT = {
    "truncate_prompt_tokens": 512,
    "truncation_side": "right",
    "encoding_format": "base64",
    "dimensions": 256,
}


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({"dimensions": 256, "max_tokens": 512}, CUT),
        ({"truncate": False, "encoding_format": "float"}, {"encoding_format": "float"}),
    ],
)
def test_a_request_names_the_model_and_the_truncation(options, more):
    settings = EncoderSettings(model="m", **options)

    assert embeddings_body(settings, ["a", "b"]) == {"model": "m", "input": ["a", "b"]} | more


def base64_of(vector):
    return base64.b64encode(np.array(vector, "<f4").tobytes()).decode()


@pytest.mark.parametrize("written", [list, base64_of])
def test_vectors_have_the_order_of_the_texts_and_unit_length(written):
    vectors = opened(Server(written=written)).encode_passages(["abc", "", "ab"])

    expected = np.array([[3, 1, 0], [1, 1, 0], [2, 1, 0]]) / np.sqrt([[10], [2], [5]])
    assert vectors == pytest.approx(expected, abs=1e-6)
    assert vectors.dtype == np.float32


@pytest.mark.parametrize(
    ("texts", "batch_tokens", "sent"),
    [
        ([], 16_384, []),
        (["a\ud800b"], 16_384, [["p: a\ufffdb"]]),
        # 396 bytes are about 100 tokens: two of them make more than 150.
        (["a", "b" * 396, "c", "d" * 396], 150, [["p: " + "b" * 396], ["p: " + "d" * 396], ["p: a", "p: c"]]),
        (["a"] * 70, 16_384, [["p: a"] * 6, ["p: a"] * 32, ["p: a"] * 32]),
    ],
)
def test_requests_hold_prefixed_texts_of_similar_length(texts, batch_tokens, sent):
    server, counts = Server(), list[int]()

    vectors = opened(server, batch_tokens=batch_tokens, passage_prefix="p: ").encode_passages(
        texts, counts.append
    )

    assert sorted(server.sent, key=lambda each: (len(each), each[0][3:])) == sorted(
        sent, key=lambda each: (len(each), each[0][3:])
    )
    assert (vectors.shape, counts[-1:]) == ((len(texts), 3), [len(texts)][: len(texts)])


def test_fewer_dimensions_are_the_first_ones():
    server = Server(written=lambda _: [3.0] * 8 + [4.0] * 8)
    encoder = opened(server, dimensions=8)

    assert encoder.fingerprint.dimensions == 8
    assert encoder.encode_queries(["a"]) == pytest.approx(np.full((1, 8), 1 / np.sqrt(8)), abs=1e-6)


UNAVAILABLE = httpx.Response(503)
LATER = httpx.Response(503, headers={"Retry-After": "Wed, 21 Oct 2199 07:28:00 GMT"})
BROKEN = [httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), httpx.RemoteProtocolError("broken off")]


@pytest.mark.parametrize(
    ("method", "failures", "pauses", "message"),
    [
        *(("passages", [failure] * 2, [0.5, 1.0], "") for failure in (UNAVAILABLE, *BROKEN)),
        *(("passages", [httpx.Response(status)], [0.5], "") for status in (500, 408)),
        ("passages", [httpx.Response(429, headers={"Retry-After": "7"})], [7.0], ""),
        ("passages", [LATER], [30.0], ""),
        ("passages", [UNAVAILABLE] * 9, [0.5, 1, 2, 4, 8, 16, 30], r"answered 503 \(8 tries\)"),
        ("queries", [UNAVAILABLE] * 9, [0.5], r"answered 503 \(2 tries\)"),
        ("queries", [httpx.Response(503, headers={"Retry-After": "30"})], [], "answered 503"),
    ],
)
def test_pauses_and_tries_are_bounded(method, failures, pauses, message):
    taken: list[float] = []
    encoder = opened(Server(None, *failures), taken)

    with pytest.raises(EncoderUnusable, match=message) if message else nullcontext():
        getattr(encoder, f"encode_{method}")(["abc"])

    assert taken == pauses


def vectors(*rows):
    return httpx.Response(200, json={"data": [{"index": index, "embedding": of} for index, of in rows]})


REFUSED = {"error": {"message": "unknown parameter", "type": "x"}}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (httpx.Response(401), r"answered 401; set SHRAG_ENCODER__API_KEY"),
        (httpx.Response(404, json={"detail": "Not Found"}), r"answered 404: Not Found; check .*BASE_URL"),
        (httpx.Response(400, json=REFUSED), r"answered 400: unknown parameter; check .*TRUNCATE=false"),
        (httpx.Response(302, headers={"Location": "http://elsewhere.test"}), r"answered 302"),
        (httpx.Response(200, text="<html>"), "/v1/embeddings"),
        (vectors(), "1 texts .* 0 vectors"),
        (vectors((5, [1.0])), r"1 texts were sent"),
        (vectors(("a", [1.0])), r"1 texts were sent"),
        (vectors((0, [1.0])), r"returned 1 dimensions .* 3"),
        (vectors((0, NOT_A_NUMBER)), "text 0.* NaN"),
    ],
)
def test_a_useless_answer_is_an_error_without_a_retry(answer, message):
    pauses: list[float] = []
    encoder = opened(Server(None, answer), pauses)

    with pytest.raises(EncoderUnusable, match=message):
        encoder.encode_passages(["abc"])

    assert pauses == []


def test_a_missing_server_is_named():
    with pytest.raises(EncoderUnusable, match=r"127.0.0.1:9.*SHRAG_ENCODER__BASE_URL"):
        open_encoder(EncoderSettings(provider="endpoint", base_url="http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    ("files", "is_same"),
    [
        ({"config.json": b"{}", "model.safetensors": b"123", "README.md": b"hello"}, True),
        ({"config.json": b"{}", "model.safetensors": b"124"}, False),
        ({"config.json": b"{}", "other.safetensors": b"123"}, False),
    ],
)
def test_the_hash_of_a_model_depends_on_names_and_contents(tmp_path, files, is_same):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, contents in ((one, {"config.json": b"{}", "model.safetensors": b"123"}), (other, files)):
        folder.mkdir()
        for name, content in contents.items():
            (folder / name).write_bytes(content)

    assert (hash_of(one) == hash_of(other)) == is_same


@pytest.mark.parametrize(
    ("vector", "stored"), [([0.6, -0.8], [76, -102]), ([1.0, 0.0], [127, 0]), ([1.01, -1.01], [127, -127])]
)
def test_int8_is_the_unit_vector_times_127(vector, stored):
    rows = to_storage(np.array([vector], np.float32), "int8")

    assert (str(rows.dtype), rows.tolist()) == ("int8", [stored])


def test_the_cosine_of_int8_rows_is_that_of_the_integers():
    rows = np.array([[3, 4], [4, -3], [-3, -4], [0, 0]], np.int8)

    assert cosines(rows, np.array([3, 4], np.int8)).tolist() == [1.0, 0.0, -1.0, 0.0]
