"""The re-ranker and the entailment model in this process, with tiny cross-encoders of the real class."""

import numpy as np
import pytest

from indexer.encoders import open_reranker
from indexer.encoders.cross_encoder import CrossEncoderReranker, EntailmentModel
from indexer.errors import EncoderUnusable
from indexer.settings import CheckSettings, RerankerSettings

pytestmark = pytest.mark.needs_models

TEXTS = ["graph networks", "", "검색 논문", "a " * 200, "\ud800", "short"]
PAIRS = [("graph networks", "graph"), ("검색 논문", "short"), ("a " * 200, ""), ("text", "text")]
LABELS = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from tests.indexer.encoders.tiny_models import tiny_cross_encoder

    return tiny_cross_encoder(tmp_path_factory.mktemp("cross"))


def opened(folder, **options):
    return CrossEncoderReranker(
        RerankerSettings(provider="local", model=str(folder), device="cpu", **options)
    )


def test_scores_are_those_of_the_library(library, folder):
    pairs = [("graph", text.replace("\ud800", "\ufffd")) for text in TEXTS]
    expected = library.CrossEncoder(str(folder), device="cpu").predict(pairs, batch_size=1)

    reranker = opened(folder, batch_tokens=256)
    scores, raw = reranker.scores("graph", TEXTS), opened(folder, scores="raw").scores("graph", TEXTS)

    assert (reranker.model, reranker.revision[:6], scores.dtype) == ("model", "files:", np.float32)
    assert scores == pytest.approx(expected, abs=1e-6)
    assert 1 / (1 + np.exp(-raw)) == pytest.approx(scores, abs=1e-6)
    assert reranker.scores("graph", []).shape == (0,)


def test_a_classifier_of_several_labels_is_refused_as_a_reranker(tmp_path):
    from tests.indexer.encoders.tiny_models import tiny_cross_encoder

    with pytest.raises(EncoderUnusable, match=r"returns 3 scores per text.*SHRAG_RERANKER__MODEL"):
        opened(tiny_cross_encoder(tmp_path, 3))


def test_a_missing_model_is_named_with_its_settings(tmp_path):
    with pytest.raises(EncoderUnusable, match=r"m3' .*SHRAG_RERANKER__DOWNLOAD=true"):
        open_reranker(RerankerSettings(provider="local", cache=tmp_path))


def judge_of(folder, labels=LABELS):
    from tests.indexer.encoders.tiny_models import tiny_entailment_model

    return EntailmentModel(CheckSettings(model=str(tiny_entailment_model(folder, labels)), device="cpu"))


def test_judgements_are_those_of_the_likeliest_label(library, tmp_path):
    model = judge_of(tmp_path)
    raw = library.CrossEncoder(str(tmp_path / "model"), device="cpu").predict(PAIRS, batch_size=1)
    expected = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)

    found = model.judge(PAIRS)

    assert [each.relation for each in found] == [LABELS[row.argmax()] for row in raw]
    assert [each.entailment for each in found] == pytest.approx(expected[:, 0].tolist(), abs=1e-5)
    assert model.judge([]) == []


def test_a_model_without_a_label_for_entailment_is_refused(tmp_path):
    with pytest.raises(EncoderUnusable, match=r"label_0.*SHRAG_CHECK__MODEL"):
        judge_of(tmp_path, ("LABEL_0", "LABEL_1", "LABEL_2"))
