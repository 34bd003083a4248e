"""Quality of answers: overlap with reference texts, and judgements by a language model.

Citation recall and precision are defined by ALCE (Gao, Yen, Yu & Chen, EMNLP 2023, section 3). A sentence has
recall 1 if its cited passages, read together, support it. A citation has precision 1 if the sentence has
recall 1 and the citation is relevant: its passage alone supports the sentence, or without it the other
citations do not. ALCE's judge is an entailment model. Here a sentence in the words of a cited passage is
supported, one without citations unsupported. A language model judges the others by the prompt `check` of
`generator/prompts/`. Without a model, or if its call fails, they are "not judged".

For accuracy the language model compares an answer with reference texts, by the rubric of the prompt
`accuracy`. A failed judgement counts neither as correct nor as incorrect. Prompts have versions.

ROUGE-L is the F1 of precision and recall of the longest common subsequence of tokens (C.-Y. Lin, ROUGE: a
package for automatic evaluation of summaries, 2004, section 3.1, with β = 1). For English texts it equals
`rougeL` of the library rouge-score 0.1.2, which keeps only the letters a to z and digits. If one of two texts
is Korean, the tokens of both are those of the analyzer `korean`: morphemes without particles, endings and
punctuation, and English words in lower case.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from threading import Lock
from typing import Annotated, Literal, TypeAlias, TypedDict

from pydantic import BaseModel, StringConstraints
from rapidfuzz.distance import LCSseq

from eval.statistics import mean_of_known
from generator.answers.answer import Sentence, cited_passages
from generator.answers.judging import MOST_CLAIMS, Claim, check_step
from generator.checking import Check, check_sentence
from generator.errors import ModelFailed
from generator.llm import LanguageModel
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.tracing import Step
from indexer.analysis import Analyzer, make_analyzer
from indexer.analysis.porter import porter_stem
from indexer.corpora.papers import Language, language_of
from indexer.files.schema import StoredPassage

Verdict: TypeAlias = Literal["supported", "unsupported", "not judged"]
Citations: TypeAlias = tuple[str, ...]  # passage_ids

NOT_JUDGED: Verdict = "not judged"  # without a judge, or if its call failed
WITHOUT_MODEL: Mapping[Check, Verdict] = {"supported": "supported", "unsupported": "unsupported"}


class Judged(TypedDict):
    """The verdict on a sentence, as JSON.

    `precise` has an entry for each citation: whether its precision is 1, or null if it was not judged.
    `hints` are the codes of the hints of the citation check.
    """

    verdict: Verdict
    precise: list[bool | None]
    hints: list[str]


def parts_of(citations: Citations) -> list[Citations]:
    """Return the parts of several citations that decide their precision: each alone, and all without each."""
    if len(citations) < 2:  # noqa: PLR2004 - one citation has no parts
        return []
    alone = [(each,) for each in citations]
    return list(dict.fromkeys([*alone, *(_without(citations, each) for each in citations)]))


def precise_citations(citations: Citations, verdicts: Mapping[Citations, Verdict]) -> list[bool | None]:
    """Return for each citation of a sentence whether its precision is 1; None if it was not judged.

    Args:
        citations: of the sentence, without repetitions.
        verdicts: on the sentence with all citations and, if that is supported, with each of `parts_of`.
    """

    def supported(part: Citations) -> bool | None:
        return None if verdicts[part] == NOT_JUDGED else verdicts[part] == "supported"

    def relevant(citation: str) -> bool | None:
        alone, others = supported((citation,)), supported(_without(citations, citation))
        if alone or others is False:
            return True
        return None if None in {alone, others} else False

    whole = supported(citations)
    if not whole or len(citations) == 1:
        return [whole] * len(citations)
    return [relevant(each) for each in citations]


def _without(citations: Citations, citation: str) -> Citations:
    return tuple(each for each in citations if each != citation)


def citation_scores(answers: Sequence[Sequence[Judged]]) -> tuple[float | None, float | None]:
    """Return the means of recall and precision over answers, given as the judged sentences of each.

    Within an answer recall is the mean over its sentences, and precision the mean over all its citations, 0
    without citations. Sentences and citations that were not judged are left out; without any, a mean is None.
    """
    recalls, precisions = [], []
    for sentences in answers:
        judged = [each for each in sentences if each["verdict"] != NOT_JUDGED]
        if judged:
            recalls.append(fmean(each["verdict"] == "supported" for each in judged))
        citations = [precise for each in sentences for precise in each["precise"]]
        known = [precise for precise in citations if precise is not None]
        if known:
            precisions.append(fmean(known))
        elif sentences and not citations:
            precisions.append(0.0)
    return mean_of_known(recalls), mean_of_known(precisions)


async def judge_sentences(
    sentences: Sequence[Sentence],
    passages: Sequence[StoredPassage],
    language: Language,
    model: LanguageModel | None,
) -> list[Judged]:
    """Judge each sentence, then the parts of the citations of supported sentences."""
    hints: dict[Claim, list[str]] = {}

    async def verdicts_on(claims: Sequence[Claim]) -> dict[Claim, Verdict]:
        """Return the verdict on each claim; a call of the model has at most MOST_CLAIMS."""
        verdicts = {}
        for claim in claims:
            check, of_claim = check_sentence(claim.text, cited_passages(claim.citations, passages))
            hints[claim] = [hint.code for hint in of_claim]
            verdicts[claim] = WITHOUT_MODEL.get(check, NOT_JUDGED)
        asked = [claim for claim, verdict in verdicts.items() if verdict == NOT_JUDGED and model]
        for first in range(0, len(asked), MOST_CLAIMS):
            batch = asked[first : first + MOST_CLAIMS]
            assert model is not None  # noqa: S101 - else nothing is asked
            with suppress(ModelFailed):
                found = await check_step(batch, passages, language, model.settings.revision).call(model)
                verdicts |= {claim: verdict for claim, (verdict, _) in found.value.by_claim.items()}
        return verdicts

    claims = [Claim(sentence.text, sentence.citations) for sentence in sentences]
    verdicts = await verdicts_on(claims)
    supported = [claim for claim in claims if verdicts[claim] == "supported"]
    parts = [Claim(claim.text, part) for claim in supported for part in parts_of(claim.citations)]
    verdicts |= await verdicts_on(parts)
    judged = []
    for claim in claims:
        of_citations = {of.citations: verdict for of, verdict in verdicts.items() if of.text == claim.text}
        precise = precise_citations(claim.citations, of_citations)
        judged.append(Judged(verdict=verdicts[claim], precise=precise, hints=hints[claim]))
    return judged


class GradedAnswer(BaseModel):
    """Reply schema; the reason comes first, so that the verdict follows from it."""

    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)] = ""
    verdict: Literal["correct", "incorrect"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and its reason or the error of the failed call."""

    verdict: Literal["correct", "incorrect", "not judged"]
    why: str


async def judge_answer(
    question: str, references: Sequence[str], answer: str, model: LanguageModel
) -> Judgement:
    """Return the model's verdict on an answer, in the language of the question.

    It is "not judged", with the error, if the call fails.
    """
    parent = Step("accuracy")
    step: ModelStep[GradedAnswer, Judgement] = ModelStep(
        "accuracy",
        load_prompt("accuracy", language_of(question)),
        {"references": references, "question": question, "answer": answer},
        GradedAnswer,
        read=lambda reply: Judgement(reply.value.verdict, reply.value.reason),
        fallback="not judged",
        inputs={"question": question},
    )
    return await step.run(parent, model) or Judgement("not judged", parent.children[-1].error)


def judge_name(model: str, prompt: str) -> str:
    """Name a model as the judge of a table, with the versions of its prompt in both languages."""
    english, korean = (load_prompt(prompt, language).version for language in ("en", "ko"))
    return f"{model}, prompts {prompt}.en version {english} and {prompt}.ko version {korean}"


NO_TOKEN = re.compile(r"[^a-z0-9]+")
STEMMED = 3  # longer words are stemmed, as in rouge-score
ANALYZING = Lock()  # an analyzer serves one thread at a time


def rouge_l(answer: str, references: Iterable[str], *, stem: bool = False) -> float:
    """Return the highest ROUGE-L F1 of an answer and a reference, 0 to 1; 0 without references.

    `stem` stems English words of more than three letters by Porter's stemmer; that of rouge-score is another
    variant, which differs in a few words, such as *dying*.
    """
    scores = [0.0]
    for reference in references:
        korean = "ko" in (language_of(answer), language_of(reference))
        written, expected = (
            korean_tokens(text) if korean else english_tokens(text, stem=stem) for text in (answer, reference)
        )
        common = LCSseq.similarity(written, expected)
        scores.append(2 * common / (len(written) + len(expected)) if common else 0.0)
    return max(scores)


def english_tokens(text: str, *, stem: bool = False) -> list[str]:
    """Return the tokens of rouge-score: words of a to z and 0 to 9, lowercase."""
    words = [word for word in NO_TOKEN.split(text.lower()) if word]
    return [porter_stem(word) if len(word) > STEMMED else word for word in words] if stem else words


def korean_tokens(text: str) -> list[str]:
    """Return the terms of the analyzer `korean` with compounds split, as an index has them."""
    with ANALYZING:
        return [token[0] for token in _analyzer().analyze(unicodedata.normalize("NFC", text))]


@cache
def _analyzer() -> Analyzer:
    return make_analyzer("korean")
