"""The page of the API: calls, their parameters and the fields of answers, as /openapi.json describes them."""

from collections.abc import Iterator
from typing import Any, TypeAlias

from generator.request import Settings
from server.app import create_app
from server.settings import ServerSettings
from tests.reference.markdown import GENERATED, code, in_one_line, table

Schema: TypeAlias = dict[str, Any]

INTRODUCTION = f"""\
# HTTP API

    curl http://127.0.0.1:8080/openapi.json      # this description for programs (OpenAPI 3.1)
    curl http://127.0.0.1:8080/docs              # the same in a browser, to try calls

{GENERATED} [The API](../how-to/api.md) has examples, and explains events and problems.
"""
REFERENCE = "#/components/schemas/"


def page() -> str:
    """Return the page."""
    document = create_app(Settings.from_environment(), ServerSettings()).openapi()
    lines = [INTRODUCTION, "## Calls", ""]
    for path, calls in document["paths"].items():
        for methods, call in _alike(calls, document["components"]["schemas"]):
            lines += _call(methods, path, call, document["components"]["schemas"])
    lines += [
        *_problems(document),
        "## Fields",
        "",
        "A question mark follows the name of an optional field.",
        "",
    ]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += _fields(name, schema)
    return "\n".join(lines).rstrip() + "\n"


def _alike(calls: Schema, schemas: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the calls of a path; of GET and POST that take the same fields the second is left out."""
    got, posted = calls.get("get", {}), calls.get("post", {})
    same = _schema_with(got.get("parameters", []), schemas)
    both = bool(same) and [REFERENCE + same] == [each["schema"].get("$ref") for each in _bodies(posted)]
    for method, call in calls.items():
        if not (both and method == "post"):
            yield "GET, POST" if both and method == "get" else method.upper(), call


def _bodies(call: Schema) -> list[Schema]:
    return list(call.get("requestBody", {}).get("content", {}).values())


def _call(methods: str, path: str, call: Schema, schemas: Schema) -> Iterator[str]:
    yield f"### {methods} {path}"
    yield ""
    for paragraph in call["description"].split("\n\n"):
        yield from (in_one_line(paragraph), "")
    parts: list[Schema] = call.get("parameters", [])
    same = _schema_with(parts, schemas)
    if same:
        body = " or body" if "POST" in methods else ""
        yield f"Query{body}: the fields of [{same}](#{same.lower()}). In a query a list repeats its name."
        yield ""
    elif parts:
        yield from table(
            ["parameter", "in", "type", "default", "meaning"],
            [
                [code(part["name"]), part["in"], _kind(_schema_of(part)), _default(part), _meaning(part)]
                for part in parts
            ],
        )
        yield ""
    if bodies := _bodies(call):
        yield f"Body: {_kind(bodies[0]['schema'])}."
        yield ""
    for status, answer in call["responses"].items():
        if status.startswith("2"):
            kinds = [
                f"{_kind(content.get('schema', {}))} ({code(media)})"
                for media, content in answer.get("content", {}).items()
            ]
            yield f"Answer {status}: {', '.join(kinds) or 'empty'}."
            yield ""


def _schema_with(parts: list[Schema], schemas: Schema) -> str:
    """Name the schema of a body with exactly these parts, "" where there is none."""
    names = {part["name"] for part in parts}
    if len(names) < 4 or any(part["in"] != "query" for part in parts):
        return ""
    return next((name for name, each in schemas.items() if each.get("properties", {}).keys() == names), "")


def _problems(document: Schema) -> Iterator[str]:
    call = document["paths"]["/api/v1/search"]["get"]
    yield from ("## Problems", "")
    yield "A call below `/api/v1` that fails returns one of these statuses and a [Problem](#problem)."
    yield ""
    rows = []
    for status, answer in call["responses"].items():
        if not status.startswith("2"):
            title, _, codes = answer["description"].partition(": ")
            rows.append([status, ", ".join(map(code, codes.split(", "))), title])
    yield from table(["status", "codes", "meaning"], rows)
    yield ""


def _fields(name: str, schema: Schema) -> Iterator[str]:
    yield from (f"### {name}", "")
    if described := schema.get("description"):
        yield from (in_one_line(described), "")
    required = schema.get("required", ())
    if properties := schema.get("properties"):
        yield from table(
            ["field", "type", "default", "meaning"],
            [
                [
                    code(field) + ("" if field in required else "?"),
                    _kind(each),
                    _default({"schema": each}),
                    in_one_line(each.get("description", "")),
                ]
                for field, each in sorted(properties.items(), key=lambda each: each[0] not in required)
            ],
        )
        yield ""


def _meaning(part: Schema) -> str:
    return in_one_line(part.get("description", "") or _schema_of(part).get("description", ""))


def _default(part: Schema) -> str:
    if part.get("required"):
        return "required"
    default = _schema_of(part).get("default")
    if default is None or default in ([], ""):
        return ""
    return code(str(default).lower() if isinstance(default, bool) else str(default))


def _schema_of(part: Schema) -> Schema:
    """Return the schema of a parameter: a text, or JSON."""
    found: Schema = part.get("schema") or part["content"]["application/json"]["schema"]
    return found


def _kind(schema: Schema) -> str:
    """Return a type in words, with a link to the fields of an object."""
    if reference := schema.get("$ref"):
        name = reference.removeprefix(REFERENCE)
        return f"[{name}](#{name.lower()})"
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(_kind(each) for each in options)
    if "enum" in schema:
        return ", ".join(code("null" if each is None else str(each)) for each in schema["enum"])
    if "const" in schema:
        return code(str(schema["const"]))
    kind = schema.get("type", "any")
    if kind == "array":
        kinds = map(_kind, schema.get("prefixItems") or [schema.get("items", {})])
        return f"list of {' or '.join(dict.fromkeys(kinds))}"
    if kind == "object" and isinstance(inner := schema.get("additionalProperties"), dict):
        return f"object of {_kind(inner)}"
    return " ".join([kind, *_bounds(schema)])


def _bounds(schema: Schema) -> list[str]:
    least, most, longest = (schema.get(name) for name in ("minimum", "maximum", "maxLength"))
    found = [
        f"≥ {least:g}" if least is not None else "",
        f"≤ {most:g}" if most is not None else "",
        f"≤ {longest} characters" if longest is not None else "",
    ]
    return [", ".join(filter(None, found))] if any(found) else []
