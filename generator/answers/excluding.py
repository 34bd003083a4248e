"""Exclusions of a strategy, applied to an answer."""

from collections.abc import Sequence
from dataclasses import replace

from generator.answers.answer import Answer, Sentence
from generator.prompts import load_prompt
from indexer.corpora.papers import Language
from retriever.exclusions import Excluded
from retriever.index import SearchIndex


def exclusion_prompt(exclusions: Sequence[Excluded], language: Language) -> tuple[str, int | None]:
    """Return the prompt part about exclusions and its version; ("", None) without exclusions."""
    texts = [each.text for each in exclusions if each.names]
    if not texts:
        return "", None
    prompt = load_prompt("exclusions", language)
    return prompt.render(exclusions=texts), prompt.version


def mark_excluded(answer: Answer, exclusions: Sequence[Excluded], index: SearchIndex) -> Answer:
    """Mark sentences that name excluded things; unsupported sentences stay unsupported."""
    return replace(
        answer, sentences=tuple(marked(sentence, exclusions, index) for sentence in answer.sentences)
    )


def marked(sentence: Sentence, exclusions: Sequence[Excluded], index: SearchIndex) -> Sentence:
    """Mark a sentence as excluded if it names an excluded thing."""
    if sentence.check != "unsupported" and any(
        each.is_named_in(sentence.text, index.analyzer) for each in exclusions
    ):
        return replace(sentence, check="excluded")
    return sentence
