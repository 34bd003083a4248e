"""Judges of relevance: rules, and the language model with a brief or a complex prompt."""

from collections.abc import Mapping
from typing import Any

from eval.reproduction.finding.inputs import FindingMaterials

RULES = "rules"
BRIEF, COMPLEX = "model, brief", "model, complex"
# The options of a search for papers, by judge.
JUDGES: Mapping[str, Mapping[str, Any]] = {
    RULES: {"without": frozenset({"judgement"})},
    BRIEF: {"judge": "brief"},
    COMPLEX: {"judge": "complex"},
}


def judges_of(materials: FindingMaterials) -> list[str]:
    """Return the judges of a call: the rules, and the model's if it is used."""
    return [judge for judge in JUDGES if judge == RULES or materials.model is not None]
