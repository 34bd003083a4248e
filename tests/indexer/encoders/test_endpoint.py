"""The encoder behind an endpoint: a double at the HTTP seam, and a real server that breaks off."""

import asyncio
import base64
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import numpy as np
import pytest

from indexer.encoders import open_encoder
from indexer.encoders.endpoint import EndpointEncoder, embeddings_body
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings
from tests.http_server import Handler, serving

URL = "http://encoder.test/v1"
NOT_A_NUMBER = base64.b64encode(np.array([np.nan, 1, 0], "<f4").tobytes()).decode()


class Server(httpx.AsyncBaseTransport):
    """Answers with a vector for each text, [its length, 1, 0]; the answers prepared come first."""

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
        return httpx.Response(200, json={"data": rows[::-1]})  # the order is told by the index alone

    @property
    def sent(self):
        return [body["input"] for _, body in self.requests[1:]]  # behind the probe


TO_CLOSE = ExitStack()


def opened(server, pauses=None, **options):
    settings = EncoderSettings(provider="endpoint", base_url=URL, model="some-model", **options)

    async def sleep(seconds):
        if pauses is not None:
            pauses.append(seconds)

    encoder = EndpointEncoder(settings, server, sleep)
    TO_CLOSE.callback(encoder.close)
    return encoder


@pytest.fixture(autouse=True)
def _closed_at_the_end():
    with TO_CLOSE:
        yield


def test_a_request_names_the_model_and_how_to_cut_at_its_end():
    settings = EncoderSettings(model="m", dimensions=256, max_tokens=512)

    assert embeddings_body(settings, ["a", "b"]) == {
        "model": "m",
        "input": ["a", "b"],
        "encoding_format": "base64",
        "dimensions": 256,
        "truncate_prompt_tokens": 512,
        "truncation_side": "right",
    }


def test_a_server_that_knows_no_cutting_is_not_asked_for_it():
    settings = EncoderSettings(model="m", truncate=False, encoding_format="float")

    assert embeddings_body(settings, ["a"]) == {"model": "m", "input": ["a"], "encoding_format": "float"}


def test_vectors_come_in_the_order_of_the_texts_and_at_unit_length():
    vectors = opened(Server()).encode_passages(["abc", "", "ab"])

    expected = np.array([[3, 1, 0], [1, 1, 0], [2, 1, 0]]) / np.sqrt([[10], [2], [5]])
    assert vectors == pytest.approx(expected, abs=1e-6)
    assert vectors.dtype == np.float32


def test_base64_is_read_as_float32():
    def written(vector):
        return base64.b64encode(np.array(vector, "<f4").tobytes()).decode()

    vectors = opened(Server(written=written)).encode_queries(["abc"])

    assert vectors == pytest.approx(np.array([[3, 1, 0]]) / np.sqrt(10), abs=1e-6)


def test_prefixes_go_before_the_texts():
    server = Server()
    encoder = opened(server, query_prefix="q: ", passage_prefix="p: ")

    encoder.encode_queries(["a"])
    encoder.encode_passages(["b"])

    assert server.sent == [["q: a"], ["p: b"]]


def test_a_request_holds_texts_of_like_length_up_to_the_tokens_of_a_batch():
    server = Server()

    # 396 bytes are about 100 tokens: two of them make more than 150.
    opened(server, batch_tokens=150).encode_passages(["a", "b" * 396, "c", "d" * 396])

    assert sorted(server.sent) == [["a", "c"], ["b" * 396], ["d" * 396]]


def test_a_request_holds_32_texts_at_most():
    server = Server()

    assert opened(server).encode_passages(["a"] * 70).shape == (70, 3)
    assert sorted(map(len, server.sent)) == [6, 32, 32]


def test_no_texts_ask_for_nothing():
    server = Server()

    assert opened(server).encode_passages([]).shape == (0, 3)
    assert server.sent == []


def test_the_fingerprint_names_the_model_and_what_the_settings_say_of_it():
    fingerprint = opened(Server(), revision="r1", max_tokens=512, storage="int8").fingerprint

    assert (fingerprint.model, fingerprint.revision, fingerprint.pooling) == ("some-model", "r1", "endpoint")
    assert (fingerprint.dimensions, fingerprint.max_tokens, fingerprint.storage) == (3, 512, "int8")


def test_fewer_dimensions_are_taken_from_a_server_that_gives_all():
    server = Server(httpx.Response(200, json={"data": [{"index": 0, "embedding": [3.0] * 8 + [4.0] * 8}]}))
    encoder = opened(server, dimensions=8)
    server.prepared = [httpx.Response(200, json={"data": [{"index": 0, "embedding": [3.0] * 8 + [4.0] * 8}]})]

    assert encoder.fingerprint.dimensions == 8
    assert encoder.encode_queries(["a"]) == pytest.approx(np.full((1, 8), 1 / np.sqrt(8)), abs=1e-6)


def test_more_dimensions_than_the_server_gives_are_refused():
    with pytest.raises(EncoderUnusable, match=r"returns 3 dimensions, fewer than the requested 8"):
        opened(Server(), dimensions=8)


@pytest.mark.parametrize(
    "failure",
    [
        httpx.Response(503),
        httpx.Response(500, text="oops"),
        httpx.Response(408),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("broken off"),
    ],
)
def test_what_may_pass_is_tried_again_with_growing_pauses(failure):
    pauses: list[float] = []
    server = Server(None, failure, failure)

    vectors = opened(server, pauses).encode_passages(["abc"])

    assert vectors.shape == (1, 3)
    assert pauses == [0.5, 1.0]


def test_a_pause_is_as_long_as_the_server_asks_for():
    pauses: list[float] = []
    server = Server(None, httpx.Response(429, headers={"Retry-After": "7"}))

    opened(server, pauses).encode_passages(["abc"])

    assert pauses == [7.0]


def test_no_pause_is_longer_than_half_a_minute():
    pauses: list[float] = []
    server = Server(None, httpx.Response(503, headers={"Retry-After": "Wed, 21 Oct 2199 07:28:00 GMT"}))

    opened(server, pauses).encode_passages(["abc"])

    assert pauses == [30.0]


def test_a_question_is_tried_twice_only():
    server = Server(None, httpx.Response(503), httpx.Response(503), httpx.Response(503))

    with pytest.raises(EncoderUnusable, match=r"answered 503 \(2 tries\)"):
        opened(server).encode_queries(["abc"])


def test_a_question_does_not_wait_for_a_pause_as_long_as_its_time():
    pauses: list[float] = []
    server = Server(None, httpx.Response(503, headers={"Retry-After": "30"}))

    with pytest.raises(EncoderUnusable, match="answered 503"):
        opened(server, pauses).encode_queries(["abc"])

    assert pauses == []


def test_a_question_waits_no_longer_for_passages_that_are_under_way(monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    class Holds(Server):
        async def handle_async_request(self, request):
            if b"passage" in await request.aread():
                begun.set()
                await asyncio.to_thread(go_on.wait)
            return await super().handle_async_request(request)

    encoder = opened(Holds(), requests_at_once=1)
    monkeypatch.setattr("indexer.encoders.endpoint.QUESTION_S", 0.1)
    with ThreadPoolExecutor() as pool:
        passages = pool.submit(encoder.encode_passages, ["passage"])
        try:
            assert begun.wait(120)
            question = pool.submit(encoder.encode_queries, ["question"])
            with pytest.raises(EncoderUnusable, match=r"returned no vector within 0\.1 s"):
                question.result(120)
        finally:
            go_on.set()
        assert passages.result(120).shape == (1, 3)
    encoder.close()


def test_passages_are_tried_for_a_minute():
    server = Server(None, *[httpx.Response(503) for _ in range(11)])

    with pytest.raises(EncoderUnusable, match=r"answered 503 \(8 tries\)"):
        opened(server).encode_passages(["abc"])

    assert len(server.sent) == 8


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (httpx.Response(401), r"answered 401; set SHRAG_ENCODER__API_KEY"),
        (httpx.Response(404, json={"detail": "Not Found"}), r"answered 404: Not Found; check .*BASE_URL"),
        (
            httpx.Response(400, json={"error": {"message": "unknown parameter", "type": "x"}}),
            r"answered 400: unknown parameter; check .*TRUNCATE=false",
        ),
        (httpx.Response(302, headers={"Location": "http://elsewhere.test"}), r"answered 302"),
        (httpx.Response(200, text="<html>"), r"not in the format of /v1/embeddings; is it"),
        (httpx.Response(200, json={"data": []}), r"1 texts were sent, but 0 vectors were returned"),
        (httpx.Response(200, json={"data": [{"index": 5, "embedding": [1.0]}]}), r"1 texts were sent"),
        (
            httpx.Response(200, json={"data": [{"index": 0, "embedding": [1.0]}]}),
            r"returned 1 dimensions .* 3",
        ),
        (
            httpx.Response(200, json={"data": [{"index": 0, "embedding": NOT_A_NUMBER}]}),
            r"vector of text 0, counted from 0, contains NaN or infinity",
        ),
    ],
)
def test_an_answer_that_is_of_no_use_is_told_at_once(answer, told):
    pauses: list[float] = []
    encoder = opened(Server(None, answer), pauses)

    with pytest.raises(EncoderUnusable, match=told):
        encoder.encode_passages(["abc"])

    assert pauses == []


@pytest.mark.parametrize("place", [None, "a", 10**400])
def test_places_that_have_no_order_are_told(place):
    rows = [{"index": place, "embedding": [1.0, 0.0, 0.0]}, {"index": 0, "embedding": [1.0, 0.0, 0.0]}]
    encoder = opened(Server(None, httpx.Response(200, json={"data": rows})))

    with pytest.raises(EncoderUnusable, match="2 texts were sent, but 2 vectors were returned"):
        encoder.encode_passages(["abc", "def"])


def test_the_key_is_sent_and_never_shown():
    server = Server(None, httpx.Response(401, text="no such key: geheim-7"))
    encoder = opened(server, api_key="geheim-7\n", allow_plain_http=True)

    with pytest.raises(EncoderUnusable) as caught:
        encoder.encode_queries(["abc"])

    assert server.requests[0][0].headers["authorization"] == "Bearer geheim-7"
    assert "geheim" not in str(caught.value)
    assert "geheim" not in repr(encoder._settings)


@pytest.mark.parametrize(
    "address", ["encoder:8000/v1", "ftp://h/v1", "http://user:secret@h/v1", "http://h/?a=b"]
)
def test_an_address_that_is_none_is_refused_without_being_shown(address):
    with pytest.raises(ValueError, match=r"base_url") as caught:
        EncoderSettings(provider="endpoint", base_url=address)

    assert "secret" not in str(caught.value)


def test_a_lone_surrogate_is_sent_as_the_replacement_sign():
    server = Server()

    opened(server).encode_queries(["a\ud800b"])

    assert server.sent == [["a\ufffdb"]]


class BreakingOff(Handler):
    """Promises more than it sends, then closes."""

    def post(self):
        self.asked()
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"data": [')


def test_an_answer_that_breaks_off_is_told(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")  # no proxy of the environment is used
    with (
        serving(BreakingOff) as url,
        pytest.raises(EncoderUnusable, match=r"ended its response early .*\(2 tries\)"),
    ):
        open_encoder(EncoderSettings(provider="endpoint", base_url=f"{url}/v1"))


def test_a_server_that_is_not_there_is_told():
    with pytest.raises(EncoderUnusable, match=r"no server answers at .*SHRAG_ENCODER__BASE_URL"):
        open_encoder(EncoderSettings(provider="endpoint", base_url="http://127.0.0.1:9/v1"))
