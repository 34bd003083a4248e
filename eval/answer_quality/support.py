"""Judges of whether the cited passages support the sentences of an answer: rules, or a language model.

The model's rubric is the prompt `check` of `generator/prompts/`, which has a version. A failed call is a
result: its sentences are "not judged".
"""

from collections.abc import Iterable, Sequence

from eval.answer_quality.citations import (
    NOT_JUDGED,
    Citations,
    Judged,
    Verdict,
    parts_of,
    precise_citations,
)
from generator.answers.answer import Answer, Sentence, cited_passages
from generator.answers.judging import check_step
from generator.checking.sentence_check import Reason, check_sentence, parser
from generator.errors import ModelFailed
from generator.llm import LanguageModel
from indexer.corpora.papers import Language
from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex

MOST_CLAIMS = 20  # of one call, the limit of the reply
VERDICTS: dict[str, Verdict] = {
    "supported": "supported",
    "not checkable": "not checkable",
}  # else unsupported
UNCITED = (Reason("citation", "no citation"),)

Claim = tuple[str, Citations]


def judge_by_rules(
    sentences: Sequence[Sentence], passages: Sequence[StoredPassage], index: SearchIndex
) -> list[Judged]:
    """Judge each sentence by the checks of `generator/checking/`.

    A sentence that the rules cannot check ("not checkable") is not supported.
    """
    parse = parser(index)

    def check(text: str, citations: Citations) -> tuple[Verdict, tuple[Reason, ...]]:
        found = check_sentence(text, cited_passages(citations, passages), index, parse)
        return VERDICTS.get(found.check, "unsupported"), found.reasons

    judged = []
    for sentence in sentences:
        verdict, reasons = check(sentence.text, sentence.citations)
        parts = parts_of(sentence.citations) if verdict == "supported" else ()
        of_parts = {part: check(sentence.text, part)[0] for part in parts}
        judged.append(_judged(sentence, {sentence.citations: verdict, **of_parts}, reasons))
    return judged


async def judge_by_model(
    sentences: Sequence[Sentence],
    passages: Sequence[StoredPassage],
    language: Language,
    model: LanguageModel,
) -> list[Judged]:
    """Judge each sentence by a language model, then the parts of the citations of supported sentences."""
    claims = [(sentence.text, sentence.citations) for sentence in sentences if sentence.citations]
    whole = await _asked(claims, passages, language, model)
    supported = [claim for claim, (verdict, _) in whole.items() if verdict == "supported"]
    further = [(text, part) for text, citations in supported for part in parts_of(citations)]
    of_parts = await _asked(further, passages, language, model)
    judged = []
    for sentence in sentences:
        cited = (sentence.text, sentence.citations)
        verdict, reasons = whole[cited] if sentence.citations else ("unsupported", UNCITED)
        verdicts = {sentence.citations: verdict}
        if verdict == "supported":
            verdicts |= {part: of_parts[sentence.text, part][0] for part in parts_of(sentence.citations)}
        judged.append(_judged(sentence, verdicts, reasons))
    return judged


async def _asked(
    claims: Iterable[Claim], passages: Sequence[StoredPassage], language: Language, model: LanguageModel
) -> dict[Claim, tuple[Verdict, tuple[Reason, ...]]]:
    """Return the model's verdicts on claims, of which a call has at most MOST_CLAIMS."""
    verdicts: dict[Claim, tuple[Verdict, tuple[Reason, ...]]] = {}
    different = list(dict.fromkeys(claims))
    for first in range(0, len(different), MOST_CLAIMS):
        batch = different[first : first + MOST_CLAIMS]
        asked = tuple(Sentence(text, "body", citations, "not checkable") for text, citations in batch)
        answer = Answer("", asked, language, "", abstained=False)
        cited = cited_passages({each for _, citations in batch for each in citations}, passages)
        step = check_step(answer, range(len(batch)), cited, model.settings.revision)
        try:
            found = (await step.call(model)).value.sentences
        except ModelFailed as error:
            failed = Reason("judge", type(error).__name__)
            verdicts |= dict.fromkeys(batch, (NOT_JUDGED, (failed,)))
            continue
        verdicts |= {
            claim: (VERDICTS.get(sentence.check, "unsupported"), sentence.reasons)
            for claim, sentence in zip(batch, found, strict=True)
        }
    return verdicts


def _judged(sentence: Sentence, verdicts: dict[Citations, Verdict], reasons: Sequence[Reason]) -> Judged:
    return Judged(
        verdict=verdicts[sentence.citations],
        precise=precise_citations(sentence.citations, verdicts),
        reasons=[(reason.sign, reason.words) for reason in reasons],
    )
