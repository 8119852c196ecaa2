"""ComfyUI's /api/jobs: runs of every state in one list, as its stock canvas asks for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from aiohttp import web

from vinode.graph.strict_json import Json
from vinode.web.answers import answer, refuse
from vinode.web.bodies import read_object, whole_query
from vinode.web.routes import Route
from vinode.web.runs import Run
from vinode.web.site import site_of

_MOST = 1000
_STATES: Final[Mapping[str, str]] = {
    "pending": "pending",
    "running": "in_progress",
    "done": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
}


async def list_jobs(request: web.Request) -> web.StreamResponse:
    """List runs, the newest first."""
    queue = site_of(request).supervisor.queue
    wanted = {each for each in request.query.get("status", "").split(",") if each}
    if unknown := wanted - set(_STATES.values()):
        known = ", ".join(_STATES.values())
        return refuse(400, "query, status", f"expected some of {known}", min(unknown)[:80])
    offset = whole_query(request, "offset", 0, 0, 10**9)
    limit = whole_query(request, "limit", _MOST, 1, _MOST)
    runs = [*reversed(queue.pending()), *queue.running(), *queue.history(_MOST, light=True)]
    found = [run for run in runs if not wanted or _STATES[run.state] in wanted]
    if request.query.get("sort_order") == "asc":
        found.reverse()
    page = found[offset : offset + limit]
    more = {"total": len(found), "has_more": offset + limit < len(found)}
    jobs = [_job(run) for run in page]
    return answer({"jobs": jobs, "pagination": {"offset": offset, "limit": limit, **more}})


async def get_job(request: web.Request) -> web.StreamResponse:
    """Give one run as a job, with its outputs and its graph."""
    run = site_of(request).supervisor.queue.get(request.match_info["job"])
    if run is None:
        return answer({"error": "Job not found"}, 404)
    workflow = {"prompt": json.loads(run.prompt), "extra_data": json.loads(run.extra_data)}
    status = {"completed": run.state == "done", "messages": json.loads(run.messages)}
    told = {"outputs": json.loads(run.outputs), "execution_status": status, "workflow": workflow}
    return answer({**_job(run), **told})


async def cancel_one(request: web.Request) -> web.StreamResponse:
    """Cancel a run that waits or runs."""
    await read_object(request, {})
    return answer({"cancelled": site_of(request).supervisor.cancel(request.match_info["job"])})


def _job(run: Run) -> dict[str, Json]:
    outputs = list(_outputs(run))
    told: dict[str, Json] = {
        "id": run.id,
        "status": _STATES[run.state],
        "priority": run.number,
        "create_time": int(run.accepted * 1000),
        "execution_start_time": int(run.started * 1000) or None,
        "execution_end_time": int(run.ended * 1000) or None,
        "outputs_count": len(outputs),
        "previewable_outputs_count": len(outputs),
        "preview_output": outputs[-1] if outputs else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _outputs(run: Run) -> Iterator[dict[str, Json]]:
    for node, shown in json.loads(run.outputs).items():
        for file in shown.get("images", ()):
            yield {**file, "nodeId": node, "mediaType": "images"}


ROUTES = [
    Route(
        "GET", "/api/jobs", list_jobs, "List runs of every state.",
        {"status": "pending, in_progress, completed, failed, cancelled", "offset": "from here on",
         "limit": "at most so many, 1 to 1000", "sort_order": "asc: the oldest first"},
    ),
    Route("GET", "/api/jobs/{job}", get_job, "Give one run as a job."),
    Route("POST", "/api/jobs/{job}/cancel", cancel_one, "Cancel a run.", body={}),
]  # fmt: skip
