"""A route, declared once: it is served from this, and described by this."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from aiohttp import web

from vinode.web.bodies import Field, Fields

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
Method: TypeAlias = Literal["GET", "POST", "DELETE"]
Answer: TypeAlias = Literal["json", "nothing", "file", "socket", "page"]


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path.

    path    as aiohttp writes it: /vinode/timing/{run}
    about   one sentence for people who call it
    query   what may stand behind the `?`
    body    fields of the JSON body; None: it takes none
    upload  the body is a form with a file
    gives   what it answers with where all is well
    mirror  it is at /api as well, as all of ComfyUI's are
    """

    method: Method
    path: str
    handler: Handler
    about: str
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Fields | None = None
    upload: bool = False
    gives: Answer = "json"
    mirror: bool = False

    @property
    def parameters(self) -> list[str]:
        """Name the parts of the path that vary."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def register(app: web.Application, routes: list[Route]) -> None:
    """Serve routes; those of ComfyUI at / and at /api."""
    for route in routes:
        for path in (route.path, f"/api{route.path}") if route.mirror else (route.path,):
            app.router.add_route(route.method, path, route.handler)


ID = {"prompt_id": Field("text", "id of a run", required=True, maximum=200)}
