"""Citation recall and precision of answers, as defined by ALCE (Gao, Yen, Yu & Chen, EMNLP 2023, section 3).

A sentence has recall 1 if its cited passages, read together, support it. A citation has precision 1 if the
sentence has recall 1 and the citation is relevant: its passage alone supports the sentence, or without it the
other citations do not. ALCE's judge is an entailment model; here `support.py` judges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias, TypedDict

from eval.statistics import mean_of_known

Verdict: TypeAlias = Literal["supported", "unsupported", "not judged"]
Citations: TypeAlias = tuple[str, ...]  # passage_ids

NOT_JUDGED: Verdict = "not judged"  # without a judge, or if its call failed


class Judged(TypedDict):
    """The verdict on a sentence, as JSON.

    `precise` has an entry for each citation: whether its precision is 1, or null if it was not judged.
    `hints` are the codes of the hints of the citation check.
    """

    verdict: Verdict
    precise: list[bool | None]
    hints: list[str]


@dataclass(frozen=True, slots=True)
class CitationScores:
    """Means over answers; None if none of their sentences or citations was judged."""

    recall: float | None
    precision: float | None


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
    whole = _is_supported(verdicts[citations])
    if not whole or len(citations) == 1:
        return [whole] * len(citations)
    return [_is_relevant(each, citations, verdicts) for each in citations]


def _is_relevant(citation: str, citations: Citations, verdicts: Mapping[Citations, Verdict]) -> bool | None:
    alone = _is_supported(verdicts[(citation,)])
    others = _is_supported(verdicts[_without(citations, citation)])
    if alone or others is False:
        return True
    return None if alone is None or others is None else False


def _is_supported(verdict: Verdict) -> bool | None:
    return None if verdict == NOT_JUDGED else verdict == "supported"


def _without(citations: Citations, citation: str) -> Citations:
    return tuple(each for each in citations if each != citation)


def citation_scores(answers: Sequence[Sequence[Judged]]) -> CitationScores:
    """Return the means of recall and precision over answers, given as the judged sentences of each.

    Within an answer recall is the mean over its sentences, and precision the mean over all its citations, 0
    without citations. Sentences and citations that were not judged are left out.
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
    return CitationScores(mean_of_known(recalls), mean_of_known(precisions))
