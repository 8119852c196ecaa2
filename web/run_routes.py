"""Our routes of runs: the queue as it is steered, the history in pages, timing and traces."""

from __future__ import annotations

import json
from collections.abc import Mapping

from aiohttp import web

from vinode.graph.compare import compare as compare_reports
from vinode.graph.compare import to_json
from vinode.graph.errors import Fault, short
from vinode.graph.saved_report import read_report
from vinode.graph.strict_json import Json
from vinode.web.answers import answer, raw_json, refuse
from vinode.web.bodies import BadRequest, Field, Fields, read_object, whole_query
from vinode.web.queue_routes import times
from vinode.web.routes import ID, Route
from vinode.web.runs import Run
from vinode.web.saved_trace import trace_of
from vinode.web.site import site_of

_MOST_PAGE = 500


async def runs(request: web.Request) -> web.StreamResponse:
    """Give what runs and waits, without the graphs; of what runs, how far it is."""
    site = site_of(request)
    queue = site.supervisor.queue
    views = site.sockets.views
    running: list[Json] = []
    for run in queue.running():
        view = views.get(run.id)
        far = {"percent": view.percent, "nodes": list(view.running)} if view else {}
        running.append({**_light(run), **far})
    pending = [_light(run) for run in queue.pending()]
    return answer({"paused": queue.paused, "running": running, "pending": pending})


async def history(request: web.Request) -> web.StreamResponse:
    """Give a page of ended runs, the newest first; `next` is `before` of the page after it."""
    queue = site_of(request).supervisor.queue
    limit = whole_query(request, "limit", 50, 1, _MOST_PAGE)
    text = request.query.get("before", "")
    try:
        before = float(text) if text else None
    except ValueError:
        raise BadRequest(Fault("query, before", "expected seconds", short(text))) from None
    found = queue.history(limit, before, light=True)
    listed = [{**_light(run), "outputs": json.loads(run.outputs)} for run in found]
    further = found[-1].ended if len(found) == limit else None
    return answer({"runs": listed, "next": further, "total": queue.ended()})


async def one(request: web.Request) -> web.StreamResponse:
    """Give a run in full, whatever its state."""
    run = _run(request.match_info["run"], request)
    light = json.dumps({**_light(run), "targets": list(run.targets), "options": run.options})
    report = f',"report":{run.report}' if run.report else ""
    return raw_json(
        f'{light[:-1]},"prompt":{run.prompt},"extra_data":{run.extra_data},'
        f'"outputs":{run.outputs},"messages":{run.messages}{report}}}'
    )


async def timing(request: web.Request) -> web.StreamResponse:
    """Give a run's report: where the time of each node went, and where it ran."""
    return raw_json(_report(request.match_info["run"], request))


async def trace(request: web.Request) -> web.StreamResponse:
    """Give a run as a Chrome trace."""
    return answer(trace_of(json.loads(_report(request.match_info["run"], request))))


async def compare(request: web.Request) -> web.StreamResponse:
    """Tell what got slower from run a to run b."""
    texts = [_report(request.query.get(name, ""), request) for name in ("a", "b")]
    before, after = (
        read_report(text, f"run {name}") for text, name in zip(texts, "ab", strict=True)
    )
    return answer(to_json(compare_reports(before, after)))


async def pause(request: web.Request) -> web.StreamResponse:
    """Begin no further run; the one that runs goes on."""
    supervisor = site_of(request).supervisor
    await read_object(request, {})
    supervisor.queue.pause()
    supervisor.changed()
    return answer({"paused": True})


async def resume(request: web.Request) -> web.StreamResponse:
    """Begin runs again."""
    supervisor = site_of(request).supervisor
    await read_object(request, {})
    supervisor.queue.resume()
    supervisor.changed()
    return answer({"paused": False})


_MOVE: Fields = {
    **ID,
    "position": Field("whole number", "place among those that wait, from 0", True, 0, 10**9),
}


async def move(request: web.Request) -> web.StreamResponse:
    """Put a waiting run at another place."""
    body = await read_object(request, _MOVE)
    queue = site_of(request).supervisor.queue
    return _moved(request, queue.move(body["prompt_id"], body["position"]))


async def front(request: web.Request) -> web.StreamResponse:
    """Let a waiting run be the next."""
    id = (await read_object(request, ID))["prompt_id"]
    return _moved(request, site_of(request).supervisor.queue.to_front(id))


async def cancel(request: web.Request) -> web.StreamResponse:
    """Cancel a run that waits or runs; false: it does neither."""
    id = (await read_object(request, ID))["prompt_id"]
    return answer({"cancelled": site_of(request).supervisor.cancel(id)})


_RERUN: Fields = {**ID, "client_id": Field("text", "who is told of it", maximum=200)}


async def rerun(request: web.Request) -> web.StreamResponse:
    """Queue a run anew, under an id of its own."""
    body = await read_object(request, _RERUN)
    supervisor = site_of(request).supervisor
    queued = supervisor.queue.rerun(body["prompt_id"], body.get("client_id"))
    if queued is None:
        raise _unknown(body["prompt_id"])
    supervisor.changed()
    return answer({"prompt_id": queued.id, "number": queued.number})


_PRUNE: Fields = {"keep": Field("whole number", "so many of the newest stay", True, 0, 10**9)}


async def prune(request: web.Request) -> web.StreamResponse:
    """Forget all but the newest ended runs."""
    keep = (await read_object(request, _PRUNE))["keep"]
    queue = site_of(request).supervisor.queue
    return answer({"forgotten": queue.prune(keep) if keep else queue.clear_history()})


def _moved(request: web.Request, moved: bool) -> web.Response:
    if not moved:
        return refuse(404, "prompt_id", "no run of this id waits")
    site_of(request).supervisor.changed()
    return answer({"moved": True})


def _light(run: Run) -> Mapping[str, Json]:
    about = {"prompt_id": run.id, "number": run.number, "client_id": run.client_id}
    return {**about, **times(run)}


def _unknown(id: str) -> BadRequest:
    return BadRequest(Fault("run", "there is none of this id", short(id), code="no-run"), 404)


def _run(id: str, request: web.Request) -> Run:
    found = site_of(request).supervisor.queue.get(id) if id else None
    if found is None:
        raise _unknown(id)
    return found


def _report(id: str, request: web.Request) -> str:
    run = _run(id, request)
    if not run.report:
        problem = "it has not ended" if not run.ended else "it ended before it began"
        raise BadRequest(Fault("run", f"there is no report of it: {problem}", id), 404)
    return run.report


_BEFORE = {"limit": "runs in a page, 1 to 500; 50", "before": "`next` of the page before"}
ROUTES = [
    Route("GET", "/vinode/queue", runs, "Give what runs and waits."),
    Route("POST", "/vinode/queue/pause", pause, "Begin no further run.", body={}),
    Route("POST", "/vinode/queue/resume", resume, "Begin runs again.", body={}),
    Route("POST", "/vinode/queue/move", move, "Put a waiting run elsewhere.", body=_MOVE),
    Route("POST", "/vinode/queue/front", front, "Let a waiting run be the next.", body=ID),
    Route("POST", "/vinode/queue/cancel", cancel, "Cancel a run.", body=ID),
    Route("POST", "/vinode/queue/rerun", rerun, "Queue a run anew.", body=_RERUN),
    Route("GET", "/vinode/history", history, "Give a page of ended runs.", _BEFORE),
    Route("POST", "/vinode/history/prune", prune, "Forget older runs.", body=_PRUNE),
    Route("GET", "/vinode/runs/{run}", one, "Give a run in full."),
    Route("GET", "/vinode/timing/{run}", timing, "Give a run's report."),
    Route("GET", "/vinode/trace/{run}", trace, "Give a run as a Chrome trace."),
    Route(
        "GET", "/vinode/compare", compare, "Tell what got slower from run a to run b.",
        {"a": "id of the earlier run", "b": "id of the later one"},
    ),
]  # fmt: skip
