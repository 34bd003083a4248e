"""The re-ranker in this process, with a tiny cross-encoder of the real class."""

import numpy as np
import pytest

from base.errors import InvalidCall
from indexer.encoders import open_reranker
from indexer.encoders.cross_encoder import CrossEncoderReranker
from indexer.errors import EncoderUnusable
from indexer.settings import RerankerSettings

pytestmark = pytest.mark.needs_models

TEXTS = ["graph networks", "", "검색 논문", "a " * 200, "\ud800", "short"]


def made(folder, labels=1):
    from tests.indexer.encoders.tiny_models import tiny_cross_encoder

    return tiny_cross_encoder(folder, labels)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("cross"))


def opened(folder, **options):
    return CrossEncoderReranker(
        RerankerSettings(provider="local", model=str(folder), device="cpu", **options)
    )


def test_scores_are_those_that_the_library_gives(library, folder):
    pairs = [("graph", text.replace("\ud800", "\ufffd")) for text in TEXTS]
    expected = library.CrossEncoder(str(folder), device="cpu").predict(pairs, batch_size=1)

    scores = opened(folder, batch_tokens=256).scores("graph", TEXTS)

    assert scores.dtype == np.float32
    assert scores == pytest.approx(expected, abs=1e-6)
    assert ((scores > 0) & (scores < 1)).all()


def test_raw_scores_are_those_before_the_sigmoid(folder):
    raw = opened(folder, scores="raw").scores("graph", TEXTS)

    assert 1 / (1 + np.exp(-raw)) == pytest.approx(opened(folder).scores("graph", TEXTS), abs=1e-6)


def test_no_texts_have_no_scores(folder):
    assert opened(folder).scores("graph", []).shape == (0,)


def test_more_tokens_than_the_model_has_places_for_are_refused(folder):
    with pytest.raises(InvalidCall, match=r"reads 128 tokens.*SHRAG_RERANKER__MAX_TOKENS"):
        opened(folder, max_tokens=512)


def test_a_classifier_of_several_labels_is_no_reranker(tmp_path):
    with pytest.raises(EncoderUnusable, match=r"returns 3 scores per text.*SHRAG_RERANKER__MODEL"):
        opened(made(tmp_path, labels=3))


def test_by_default_there_is_none():
    assert open_reranker(RerankerSettings()) is None


def test_one_setting_opens_it_and_it_says_what_it_is(folder):
    reranker = open_reranker(RerankerSettings(provider="local", model=str(folder), device="cpu"))

    assert reranker is not None
    assert reranker.model == "model"
    assert reranker.revision.startswith("files:")
    reranker.close()


def test_a_model_that_is_not_here_is_told_with_its_settings(tmp_path):
    with pytest.raises(EncoderUnusable, match=r"m3' .*SHRAG_RERANKER__DOWNLOAD=true"):
        open_reranker(RerankerSettings(provider="local", cache=tmp_path))
