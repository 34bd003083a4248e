"""The OpenAPI description of the API: stable operation ids, responses and problems."""

from collections import defaultdict
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from server.api.combinations import describe_refused
from server.api.shapes import REFERENCE, SHAPE, shape_schemas
from server.problems.details import CODES, MEDIA_TYPE, PROBLEMS, TITLES

OF_API = ("/api/", "/healthz", "/readyz", "/metrics")
WAIT = {"Retry-After": {"description": "seconds", "schema": {"type": "integer", "minimum": 1}}}
WITH_WAIT = {429, 503}
KEYS = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "a key: shrag keys create"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


class Application(FastAPI):
    """An application whose description includes response shapes and problems."""

    def openapi(self) -> dict[str, Any]:
        """Return the description, built on first use."""
        if self.openapi_schema is None:
            _complete(super().openapi())
        assert self.openapi_schema is not None  # noqa: S101 - made above
        return self.openapi_schema


def operation_id(route: APIRoute) -> str:
    """Name a call by its path and method: search_get, papers_get."""
    parts = route.path_format.removeprefix("/api/v1").strip("/").split("/")
    named = [part for part in parts if not part.startswith("{")]
    one = "_one" if parts[-1].startswith("{") else ""
    return f"{'_'.join(named)}{one}_{min(route.methods or ['any']).lower()}".replace("-", "_").replace(
        ".", "_"
    )


def problem_responses() -> dict[str, Any]:
    """Describe the problems of every call, by status."""
    codes: dict[int, list[str]] = defaultdict(list)
    for status, code in (*PROBLEMS.values(), *CODES.items(), (500, "unexpected")):
        codes[status].append(code)
    content = {MEDIA_TYPE: {"schema": {"$ref": REFERENCE.format(model="Problem")}}}
    return {
        str(status): {
            "description": f"{TITLES.get(status, 'Failed')}: {', '.join(dict.fromkeys(codes[status]))}",
            "content": content,
            **({"headers": WAIT} if status in WITH_WAIT else {}),
        }
        for status in sorted(codes)
    }


def _complete(document: dict[str, Any]) -> None:
    """Add shapes, problems and keys to a description."""
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas.update(shape_schemas())
    components["securitySchemes"] = KEYS
    refused = problem_responses()
    for path, calls in document["paths"].items():
        if not path.startswith(OF_API):
            continue
        for call in calls.values():
            found = {status: each for status, each in call["responses"].items() if status.startswith("2")}
            for each in found.values():
                for content in each.get("content", {}).values():
                    if shape := content["schema"].get(SHAPE):
                        content["schema"] = {"$ref": REFERENCE.format(model=shape)}
            for part in call.get("parameters", ()):
                part["schema"] = _without_null(part["schema"])
            call["responses"] = found | refused
            call["security"] = [{}, *({name: []} for name in KEYS)]
            call["summary"] = call["description"].split("\n")[0].rstrip(".")
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    describe_refused(document)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a query parameter without null; a parameter can only be left out."""
    options: list[dict[str, Any]] = [
        option for option in schema.get("anyOf", ()) if option != {"type": "null"}
    ]
    if len(options) != 1:
        return schema
    return {name: value for name, value in schema.items() if name != "anyOf"} | options[0]
