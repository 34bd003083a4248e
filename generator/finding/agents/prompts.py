"""Prompts of the agents: their versions, and the texts of papers in them."""

from collections.abc import Mapping
from typing import get_args

from generator.finding.calls import Wording
from generator.finding.request import FindRequest
from generator.prompts import load_prompt
from indexer.corpora.papers import Paper

# Names of each agent's prompts, without the language; `judgement` uses the prompt of the requested wording.
PROMPTS: Mapping[str, tuple[str, ...]] = {
    "understanding": ("understanding",),
    "query-writing": ("query_writing",),
    "judgement": ("judgement_brief", "judgement_complex"),
    "evolver": ("evolver",),
    "reranking": ("reranking", "reranking_time"),
}
TITLE_CHARACTERS, ABSTRACT_CHARACTERS = 1_000, 4_000  # limits of a paper in a prompt


def agent_prompts(request: FindRequest) -> dict[str, int]:
    """Return the versions of the prompts that a search may use: {"evolver.en": 2, …}."""
    names = [name for agent, of in PROMPTS.items() if request.does(agent) for name in of]
    others = {f"judgement_{wording}" for wording in get_args(Wording) if wording != request.judge}
    read = [load_prompt(name, request.language) for name in names if name not in others]
    return {f"{prompt.name}.{prompt.language}": prompt.version for prompt in read}


def title_of(paper: Paper) -> str:
    """Return the title of a paper for a prompt."""
    return (paper.title or paper.title2)[:TITLE_CHARACTERS]


def abstract_of(paper: Paper) -> str:
    """Return the abstract of a paper for a prompt."""
    return (paper.abstract or paper.abstract2)[:ABSTRACT_CHARACTERS]
