"""Judgements of whether the cited passages support the sentences of an answer.

A sentence in the words of a cited passage is supported, one without citations unsupported. A language model
judges the others by the prompt `check` of `generator/prompts/`, which has a version. Without a model, or if
its call fails, they are "not judged".
"""

from collections.abc import Mapping, Sequence

from eval.answer_quality.citations import NOT_JUDGED, Judged, Verdict, parts_of, precise_citations
from generator.answers.answer import Sentence, cited_passages
from generator.answers.judging import MOST_CLAIMS, Claim, check_step
from generator.checking.check import Check, Hint, check_sentence
from generator.errors import ModelFailed
from generator.llm import LanguageModel
from indexer.corpora.papers import Language
from indexer.files.schema import StoredPassage

WITHOUT_MODEL: Mapping[Check, Verdict] = {"supported": "supported", "unsupported": "unsupported"}


async def judge_sentences(
    sentences: Sequence[Sentence],
    passages: Sequence[StoredPassage],
    language: Language,
    model: LanguageModel | None,
) -> list[Judged]:
    """Judge each sentence, then the parts of the citations of supported sentences."""
    claims = [Claim(sentence.text, sentence.citations) for sentence in sentences]
    checked = {claim: _check(claim, passages) for claim in claims}
    verdicts = await _verdicts(checked, passages, language, model)
    supported = [claim for claim in claims if verdicts[claim] == "supported"]
    parts = [Claim(claim.text, part) for claim in supported for part in parts_of(claim.citations)]
    verdicts |= await _verdicts({part: _check(part, passages) for part in parts}, passages, language, model)
    judged = []
    for claim in claims:
        of_citations = {of.citations: verdict for of, verdict in verdicts.items() if of.text == claim.text}
        _, hints = checked[claim]
        judged.append(
            Judged(
                verdict=verdicts[claim],
                precise=precise_citations(claim.citations, of_citations),
                hints=[hint.code for hint in hints],
            )
        )
    return judged


def _check(claim: Claim, passages: Sequence[StoredPassage]) -> tuple[Check, tuple[Hint, ...]]:
    return check_sentence(claim.text, cited_passages(claim.citations, passages))


async def _verdicts(
    checked: Mapping[Claim, tuple[Check, tuple[Hint, ...]]],
    passages: Sequence[StoredPassage],
    language: Language,
    model: LanguageModel | None,
) -> dict[Claim, Verdict]:
    """Return the verdict on each checked claim; a call of the model has at most MOST_CLAIMS."""
    verdicts = {claim: WITHOUT_MODEL.get(check, NOT_JUDGED) for claim, (check, _) in checked.items()}
    if model is None:
        return verdicts
    asked = [claim for claim, verdict in verdicts.items() if verdict == NOT_JUDGED]
    for first in range(0, len(asked), MOST_CLAIMS):
        batch = asked[first : first + MOST_CLAIMS]
        try:
            found = await check_step(batch, passages, language, model.settings.revision).call(model)
        except ModelFailed:
            continue
        assert found.value is not None  # noqa: S101 - only a fallback has no verdicts
        verdicts |= {claim: verdict for claim, (verdict, _) in found.value.by_claim.items()}
    return verdicts
