"""Exclusions of a question, applied to its answer."""

from dataclasses import replace

from generator.answers.answer import Answer, Sentence
from generator.prompts import load_prompt
from indexer.corpora.papers import Language
from retriever.constraints.exclusions import Writing
from retriever.constraints.parsing import Constraints
from retriever.index import SearchIndex


def exclusion_prompt(constraints: Constraints, language: Language) -> tuple[str, int | None]:
    """Return the prompt part about exclusions and its version; ("", None) without exclusions."""
    if not constraints.exclusions:
        return "", None
    prompt = load_prompt("exclusions", language)
    return prompt.render(exclusions=[exclusion.text for exclusion in constraints.exclusions]), prompt.version


def mark_excluded(answer: Answer, constraints: Constraints, index: SearchIndex) -> Answer:
    """Mark sentences about excluded subjects; unsupported sentences stay unsupported."""
    if not constraints.exclusions:
        return answer
    return replace(
        answer, sentences=tuple(marked(sentence, constraints, index) for sentence in answer.sentences)
    )


def marked(sentence: Sentence, constraints: Constraints, index: SearchIndex) -> Sentence:
    """Mark a sentence as excluded if it is about an excluded subject."""
    if not constraints.exclusions:
        return sentence
    writing = Writing.of((token[0] for token in index.analyzer.analyze(sentence.text)), sentence.text)
    if sentence.check == "unsupported" or not constraints.excluded_by(writing):
        return sentence
    return replace(sentence, check="excluded")
