"""The form for finding papers, with the bounds and defaults of the call."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from generator.finding.agents import ADDITIONS, AGENTS
from generator.finding.calls import FindCall
from server.html.markup import Markup, element, html

NUMBERS = ("papers", "rounds", "layers", "threshold")
BUDGET = ("max_calls", "max_tokens", "max_seconds", "max_papers")  # each is optional


def find_form(words: Mapping[str, str]) -> dict[str, Markup]:
    """Create the fields of a form in the given language, by the placeholders of its template."""
    numbers = {name: _number(name) for name in NUMBERS}
    numbers |= {name: _number(name, placeholder=words["find_unlimited"]) for name in BUDGET}
    places = {f"field_{name}": element("input", attributes) for name, attributes in numbers.items()}
    return places | {"agents": html(_agent(name, words) for name in (*AGENTS, *ADDITIONS))}


def _number(name: str, **attributes: str) -> dict[str, str]:
    """Describe a number field; the minimum is 1 if the number must be greater than 0."""
    described = _parts()[name]
    number = described.get("anyOf", [described])[0]
    usual = described.get("default")
    return {
        "id": name,
        "type": "number",
        "min": str(number.get("minimum", 1)),
        "max": str(number["maximum"]),
        "step": "1" if number["type"] == "integer" else "any",
        "value": "" if usual is None else str(usual),
        **attributes,
    }


def _agent(name: str, words: Mapping[str, str]) -> Markup:
    box = {"id": f"agent-{name}", "type": "checkbox", "checked": "checked", "data-agent": name}
    box |= {"data-addition": name} if name in ADDITIONS else {}
    words_of_it = words[f"find_agent_{name.replace('-', '_')}"]
    return element("label", {"class": "check"}, element("input", box), " ", words_of_it)


@cache
def _parts() -> Mapping[str, Any]:
    parts: Mapping[str, Any] = FindCall.model_json_schema()["properties"]
    return parts
