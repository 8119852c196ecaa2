"""Routes -> an OpenAPI 3 document: what is served and what is described are one list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from vinode import __version__
from vinode.graph.strict_json import Json
from vinode.web.bodies import Field, Fields
from vinode.web.routes import Route

_TYPES: Final[Mapping[str, Mapping[str, Json]]] = {
    "text": {"type": "string"},
    "whole number": {"type": "integer"},
    "number": {"type": "number"},
    "true or false": {"type": "boolean"},
    "list of texts": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object"},
    "anything": {},
}
_ERROR: Final = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {"description": "one sentence; of POST /prompt, ComfyUI's error object"},
        "faults": {"type": "array", "items": {"type": "object"}},
    },
}
_GIVES: Final[Mapping[str, tuple[str, str]]] = {
    "json": ("200", "application/json"),
    "nothing": ("200", ""),
    "file": ("200", "*/*"),
    "socket": ("101", ""),
    "page": ("200", "text/html"),
}


def document(routes: Iterable[Route]) -> dict[str, Json]:
    """Describe routes; those of ComfyUI once, though they are at /api as well."""
    paths: dict[str, dict[str, Json]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "vinode",
            "version": __version__,
            "description": "ComfyUI's routes, at / and at /api, and vinode's own at /vinode.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{}, {"bearer": []}],
    }


def _operation(route: Route) -> dict[str, Json]:
    where = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in route.parameters
    ]
    query = [
        {"name": name, "in": "query", "description": about, "schema": {"type": "string"}}
        for name, about in route.query.items()
    ]
    told: dict[str, Json] = {
        "operationId": route.handler.__name__,
        "summary": route.about,
        "tags": ["vinode" if route.path.startswith("/vinode") else "ComfyUI"],
        "responses": _responses(route),
    }
    if where or query:
        told["parameters"] = [*where, *query]
    if route.upload:
        told["requestBody"] = {"content": {"multipart/form-data": {"schema": _FORM}}}
    elif route.body is not None:
        told["requestBody"] = {"content": {"application/json": {"schema": schema(route.body)}}}
    return told


_FORM: Final = {
    "type": "object",
    "required": ["image"],
    "properties": {
        "image": {"type": "string", "format": "binary"},
        "type": {"type": "string", "enum": ["input", "output", "temp"]},
        "subfolder": {"type": "string"},
        "overwrite": {"type": "string"},
        "original_ref": {"type": "string", "description": "of a mask: JSON that names a picture"},
    },
}


def schema(fields: Fields) -> dict[str, Json]:
    """Describe a body."""
    if "any" in fields:
        return {"description": fields["any"].about}
    told: dict[str, Json] = {"type": "object", "additionalProperties": False}
    told["properties"] = {name: _field(field) for name, field in fields.items()}
    required = [name for name, field in fields.items() if field.required]
    return {**told, "required": required} if required else told


def _field(field: Field) -> dict[str, Json]:
    told: dict[str, Json] = {**_TYPES[field.shape], "description": field.about}
    kind = {"text": "Length", "list of texts": "Items"}.get(field.shape, "imum")
    if field.minimum is not None:
        told[f"min{kind}"] = int(field.minimum)
    if field.maximum is not None:
        told[f"max{kind}"] = int(field.maximum)
    return told


def _responses(route: Route) -> dict[str, Json]:
    status, type = _GIVES[route.gives]
    good: dict[str, Json] = {"description": "all is well"}
    if type:
        good["content"] = {type: {"schema": {}}}
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {status: good, "default": {"description": "refused", "content": error}}
