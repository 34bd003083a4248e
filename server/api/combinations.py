"""Combinations of request fields that the API refuses, for its OpenAPI description.

The schema of a body rules them out (`not`, `oneOf`, `anyOf`). OpenAPI describes query parameters one by one,
so the description of each call also names the combinations in words.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from base.calls import SOME_TEXT
from base.documents.formats import DOCUMENT_FORMATS
from generator.request import METHOD
from generator.ways import OPTIONS, takes, way_names
from retriever.exports import export_names
from retriever.methods import method_names
from server.api.answers_to_cite import MOST_CITED

NAME = {"type": "string", "minLength": 1}
TEXT = {"type": "string", "pattern": SOME_TEXT}
LIST = {"type": "array", "minItems": 1}
OBJECT = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Combination:
    """A refused combination of fields in words, and the schema of bodies without it."""

    words: str
    schema: Mapping[str, Any]


def _given(**parts: Any) -> dict[str, Any]:
    """Return the schema of bodies that have all these fields."""
    return {"required": list(parts), "properties": parts}


def _never(**parts: Any) -> dict[str, Any]:
    return {"not": _given(**parts)}


def _index_and_sources() -> Iterator[Combination]:
    yield Combination("`index` beside `sources`", _never(index=NAME, sources=LIST))


def _of_ways() -> Iterator[Combination]:
    """Yield fields that ways do not take. Every way takes the method if it searches in several steps."""
    other = _among(name for name in method_names() if name != METHOD)
    parts: dict[str, dict[str, Any]] = {
        "method": {"method": other, "hops": {"const": "never"}},
        "strategy": {"strategy": OBJECT},
        "keywords": {"keywords": LIST},
        "skip": {"skip": LIST},
        "topic": {"topic": TEXT},
    }
    for option in OPTIONS:
        without = _among(way for way in way_names() if not takes(way, option))
        steps = " without `hops`" if option == "method" else ""
        words = f"`{option}`{steps} by way {_named(without)}"
        yield Combination(words, _never(way=without, **parts[option]))


def _ids_question_or_answer() -> Iterator[Combination]:
    given = [_given(ids=LIST), _given(question=TEXT), _given(answer=OBJECT)]
    yield Combination("more than one of `ids`, `question` and `answer`, or none", {"oneOf": given})


def _of_answers() -> Iterator[Combination]:
    documents = _among(DOCUMENT_FORMATS)
    whole = {"if": _given(answer=OBJECT), "then": _given(evidence=LIST, format=documents)}
    yield Combination(f"`answer` without `evidence`, or with another format than {_named(documents)}", whole)


def _cited() -> Iterator[Combination]:
    """Yield the styles of formats without styles, and lists that are too long for a style."""
    others, documents = _among(export_names()), _among(DOCUMENT_FORMATS)
    yield Combination(
        f"`cite` beside format {_named(others)}", _never(cite={"type": "string"}, format=others)
    )
    many = {"minItems": MOST_CITED + 1}
    yield Combination(
        f"more than {MOST_CITED} papers of format {_named(documents)}", _never(ids=many, format=documents)
    )
    more = {"exclusiveMinimum": MOST_CITED}
    yield Combination(
        f"more than {MOST_CITED} papers of format {_named(documents)}",
        _never(k=more, question=TEXT, format=documents),
    )


def _question_or_resume() -> Iterator[Combination]:
    either = {"anyOf": [_given(question=TEXT), _given(resume=TEXT)]}
    yield Combination("neither `question` nor `resume`", either)


def _among(names: Iterable[str]) -> dict[str, list[str]]:
    return {"enum": list(names)}


def _named(among: Mapping[str, list[str]]) -> str:
    return ", ".join(f"`{value}`" for value in among["enum"])


# By the name of the body's schema.
REFUSED: dict[str, tuple[Callable[[], Iterator[Combination]], ...]] = {
    "SearchCall": (_index_and_sources,),
    "AskCall": (_index_and_sources, _of_ways),
    "ExportBody": (_index_and_sources, _ids_question_or_answer, _of_answers, _cited),
    "FindCall": (_index_and_sources, _question_or_resume),
}


def describe_refused(document: dict[str, Any]) -> None:
    """Add the combinations to the schemas of bodies, and their words to the calls with such a body."""
    found = {name: [each for make in makers for each in make()] for name, makers in REFUSED.items()}
    for name, combinations in found.items():
        document["components"]["schemas"][name]["allOf"] = [each.schema for each in combinations]
    for calls in document["paths"].values():
        if combinations := found.get(_body_of(calls.get("post", {})), []):
            words = "; ".join(dict.fromkeys(each.words for each in combinations))
            for call in calls.values():
                call["description"] += f"\n\nRefused with 422: {words}."


def _body_of(call: Mapping[str, Any]) -> str:
    """Return the name of the schema of a call's body, or ""."""
    contents = call.get("requestBody", {}).get("content", {}).values()
    return next((each["schema"].get("$ref", "").rpartition("/")[2] for each in contents), "")
