"""Our routes that mend: what a computer lacks, and what keeps a node off its device."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from typing import Any, get_args, get_type_hints

from aiohttp import web

from vinode.graph.devices import parse_hint
from vinode.graph.errors import Fault, short
from vinode.graph.mending import change
from vinode.graph.placement import Fix
from vinode.graph.strict_json import Json
from vinode.graph.workflow import NodeId, from_json, to_prompt
from vinode.web.answers import answer, refuse
from vinode.web.bodies import BadRequest, Field, Fields, read_object
from vinode.web.routes import Route
from vinode.web.site import site_of

_PATIENCE = 120.0  # seconds in which probes of drivers answer, or hang
_KINDS: tuple[str, ...] = get_args(get_type_hints(Fix)["kind"])
_FIX: Fields = {
    "prompt": Field("object", "the graph in API format", required=True),
    "node": Field("text", "id of the node to mend", required=True, maximum=1000),
    "kind": Field("text", f"of the reason's fix: {', '.join(_KINDS)}", required=True),
    "value": Field("text", "of the reason's fix", required=True, maximum=1000),
}


async def doctor(request: web.Request) -> web.StreamResponse:
    """Tell what this computer has and lacks, as `vinode doctor` does.

    In a process of its own: drivers that are probed may take it down, and the server with it.
    """
    folders = site_of(request).folders.models
    words = ["doctor", "--json", *(f"--models={folder}" for folder in folders)]
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "vinode"),
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_PATIENCE):
            said, _ = await child.communicate()
    except TimeoutError:
        fix = "see where `vinode doctor` stops"
        return refuse(504, "doctor", f"no answer within {_PATIENCE:.0f} s", fix=fix)
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
    try:
        return answer({"findings": json.loads(said)})
    except ValueError:
        problem = f"it ended with exit code {child.returncode}"
        return refuse(502, "doctor", problem, fix="run `vinode doctor`")


async def fix(request: web.Request) -> web.StreamResponse:
    """Give a workflow with one fix of a reason applied, and what that changed."""
    body = await read_object(request, _FIX)
    return answer(await asyncio.to_thread(_fixed, request, body))


def _fixed(request: web.Request, body: dict[str, Any]) -> Json:
    workflow = from_json({"prompt": body["prompt"]}, "body")
    node, kind = NodeId(str(body["node"])), body["kind"]
    if node not in workflow.nodes:
        raise BadRequest(Fault("body, node", "the workflow has no such node", short(node)))
    if kind not in _KINDS:
        known = f"known are {', '.join(_KINDS)}"
        raise BadRequest(Fault("body, kind", "no such kind of fix", short(kind), known))
    if kind == "device":
        parse_hint(body["value"], "body, value")  # refuses what is no device
    made = change(
        workflow, node, Fix(kind, str(body["value"]), ""), site_of(request).checking.types
    )
    if made is None:
        return {"prompt": body["prompt"], "done": []}
    return {"prompt": to_prompt(made.workflow), "done": list(made.done)}


ROUTES = [
    Route("GET", "/vinode/doctor", doctor, "Tell what this computer has and lacks."),
    Route("POST", "/vinode/fix", fix, "Apply a fix to a workflow.", body=_FIX),
]
