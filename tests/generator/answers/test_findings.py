"""The likelihood that a sentence of an abstract states a finding."""

import pytest

from generator.answers.extractive import finding_likelihoods


def order(*sentences):
    """Return the numbers of sentences, the most likely finding first."""
    likelihoods = finding_likelihoods(sentences, [0.5] * len(sentences))
    return sorted(range(len(sentences)), key=lambda number: -likelihoods[number])


@pytest.mark.parametrize(
    "sentences",
    [
        ("Rice is grown in water.", "We measured methane on 40 farms.", "Methane fell from 312 to 122 kg."),
        ("Bells crack.", "This study tapped 22 bells.", "Bells of iron cracked 1.4 times as often."),
        ("Pensions began in 2014.", "We use a panel.", "We find that pensions matter."),
        ("논은 메탄을 낸다.", "본 연구는 논 40곳을 조사하였다.", "메탄 배출은 37% 적었다."),
        ("간호사는 지친다.", "간호사 197명을 대상으로 물었다.", "소진이 높을수록 이직의도가 높았다(β=.44)."),
    ],
    ids=["from and to", "times", "we find", "Korean share", "Korean association"],
)
def test_a_result_is_likelier_than_background_and_method(sentences):
    assert order(*sentences)[0] == 2


@pytest.mark.parametrize("sentences", [(), ("Busan is a port.", "It grew by 9% in 1950.")], ids=len)
def test_a_text_without_a_study_has_no_likelihoods(sentences):
    assert finding_likelihoods(sentences, [0.5] * len(sentences)) == []
