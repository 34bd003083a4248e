"""The entailment model in this process, with a tiny cross-encoder of the real class."""

import numpy as np
import pytest

from indexer.errors import EncoderUnusable
from indexer.settings import CheckSettings

pytestmark = pytest.mark.needs_models

PAIRS = [("graph networks", "graph"), ("검색 논문", "short"), ("a " * 200, ""), ("text", "text")]
LABELS = ("entailment", "neutral", "contradiction")


def made(folder, labels=LABELS):
    from tests.indexer.encoders.tiny_models import tiny_entailment_model

    return tiny_entailment_model(folder, labels)


def opened(folder):
    from indexer.encoders.cross_encoder import EntailmentModel

    return EntailmentModel(CheckSettings(model=str(folder), device="cpu"))


def test_judgements_are_those_of_the_likeliest_label(library, tmp_path):
    folder = made(tmp_path)
    raw = library.CrossEncoder(str(folder), device="cpu").predict(PAIRS, batch_size=1)
    expected = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)

    found = opened(folder).judge(PAIRS)

    assert [each.relation for each in found] == [LABELS[row.argmax()] for row in raw]
    assert [each.entailment for each in found] == pytest.approx(expected[:, 0].tolist(), abs=1e-5)


def test_labels_are_read_by_their_names(tmp_path):
    turned = made(tmp_path / "turned", ("contradiction", "neutral", "entailment"))
    straight = made(tmp_path / "straight")
    (one,), (other,) = opened(turned).judge(PAIRS[:1]), opened(straight).judge(PAIRS[:1])
    names = dict(zip(LABELS, reversed(LABELS), strict=True))
    assert names[one.relation] == other.relation


def test_nothing_is_judged_of_no_pairs(tmp_path):
    assert opened(made(tmp_path)).judge([]) == []


def test_a_model_without_a_label_for_entailment_is_none(tmp_path):
    with pytest.raises(EncoderUnusable, match=r"LABEL_0|label_0.*SHRAG_CHECK__MODEL"):
        opened(made(tmp_path, ("LABEL_0", "LABEL_1", "LABEL_2")))


def test_a_model_in_the_settings_is_a_local_judge():
    assert CheckSettings().judge == "model"
    assert CheckSettings(model="nli").judge == "local"
    with pytest.raises(ValueError, match="SHRAG_CHECK__MODEL"):
        CheckSettings(judge="local")
