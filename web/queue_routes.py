"""ComfyUI's routes of prompts, queue and history."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict

from aiohttp import web

from vinode.graph.strict_json import Json
from vinode.web.answers import answer, done, dump, raw_json
from vinode.web.bodies import BadRequest, Field, Fields, read_bytes, read_object, whole_query
from vinode.web.prompts import FIELDS, Refused
from vinode.web.routes import Route
from vinode.web.runs import QueueError, Run
from vinode.web.site import site_of
from vinode.web.validation import error

_MOST_LISTED = 1000  # entries of a history that is asked for without a number
_MOST_IDS = 10_000
_STATUS = {"done": "success", "failed": "error", "cancelled": "error"}


async def post_prompt(request: web.Request) -> web.StreamResponse:
    """Check a workflow and put it into the queue."""
    site = site_of(request)
    try:
        body = await read_bytes(request)
        accepted = await asyncio.to_thread(site.checking.read, body)
        queued = site.supervisor.submit(accepted.run)
    except Refused as refused:
        return answer(refused.body, 400)
    except BadRequest as refused:
        problem = error("invalid_prompt", refused.faults[0].problem, str(refused))
        reply = answer({"error": problem, "node_errors": {}}, refused.status)
        reply.force_close()
        return reply
    except QueueError as refused:
        fault = refused.faults[0]
        status = 409 if fault.code == "id-taken" else 503
        problem = error("queue_refused", fault.problem, str(refused))
        return answer({"error": problem, "node_errors": {}}, status)
    told: dict[str, Json] = {"prompt_id": queued.id, "number": queued.number}
    told["node_errors"] = accepted.node_errors
    if accepted.warnings:
        told["vinode"] = {"warnings": [asdict(fault) for fault in accepted.warnings[:100]]}
    return answer(told)


async def get_prompt(request: web.Request) -> web.StreamResponse:
    """Say how many runs wait and run."""
    remaining = site_of(request).supervisor.queue.remaining()
    return answer({"exec_info": {"queue_remaining": remaining}})


async def get_queue(request: web.Request) -> web.StreamResponse:
    """Give the runs that run and wait."""
    queue = site_of(request).supervisor.queue
    running = ",".join(item(run) for run in queue.running())
    pending = ",".join(item(run) for run in queue.pending())
    return raw_json(f'{{"queue_running":[{running}],"queue_pending":[{pending}]}}')


_CHANGE: Fields = {
    "clear": Field("true or false", "forget all"),
    "delete": Field("list of texts", "ids of runs to forget", maximum=_MOST_IDS),
}


async def post_queue(request: web.Request) -> web.StreamResponse:
    """Forget waiting runs: all, or some."""
    supervisor = site_of(request).supervisor
    body = await read_object(request, _CHANGE)
    if body.get("clear"):
        supervisor.queue.clear()
    waiting = {run.id for run in supervisor.queue.pending()} if body.get("delete") else set[str]()
    supervisor.queue.delete([id for id in body.get("delete", []) if id in waiting])
    supervisor.changed()
    return done()


async def post_interrupt(request: web.Request) -> web.StreamResponse:
    """Cancel the run that runs; with a `prompt_id`, only if it is that one."""
    supervisor = site_of(request).supervisor
    id = (await read_object(request, {"prompt_id": Field("text", "id of the run")})).get(
        "prompt_id"
    )
    if id is None:
        supervisor.interrupt()
    elif any(run.id == id for run in supervisor.queue.running()):
        supervisor.cancel(id)
    return done()


_FREE: Fields = {
    "unload_models": Field("true or false", "drop compiled models"),
    "free_memory": Field("true or false", "drop compiled models and kept results"),
}


async def post_free(request: web.Request) -> web.StreamResponse:
    """Let the worker drop compiled models, or all that it keeps from run to run."""
    body = await read_object(request, _FREE)
    everything = bool(body.get("free_memory"))
    models = everything or bool(body.get("unload_models"))
    if models:
        site_of(request).supervisor.free(models, everything)
    return done()


async def get_history(request: web.Request) -> web.StreamResponse:
    """Give ended runs in the order in which they ended."""
    queue = site_of(request).supervisor.queue
    limit = whole_query(request, "max_items", _MOST_LISTED, 0, _MOST_IDS)
    offset = whole_query(request, "offset", -1, -1, 10**9)
    skipped = 0
    if offset >= 0:  # counted from the oldest
        total = queue.ended()
        limit = max(0, min(limit, total - offset))
        skipped = max(0, total - offset - limit)
    runs = queue.history(limit, offset=skipped) if limit else []
    return raw_json(f"{{{','.join(f'{dump(run.id)}:{entry(run)}' for run in reversed(runs))}}}")


async def get_one(request: web.Request) -> web.StreamResponse:
    """Give one ended run, with its report; nothing while it has not ended."""
    id = request.match_info["prompt_id"]
    run = site_of(request).supervisor.queue.get(id)
    if run is None or not run.ended:
        return answer({})
    return raw_json(f"{{{dump(id)}:{entry(run, with_report=True)}}}")


async def post_history(request: web.Request) -> web.StreamResponse:
    """Forget ended runs: all, or some."""
    queue = site_of(request).supervisor.queue
    body = await read_object(request, _CHANGE)
    if body.get("clear"):
        queue.clear_history()
    asked = [queue.get(id) for id in body.get("delete", [])]
    queue.delete([run.id for run in asked if run is not None and run.ended])
    return done()


def item(run: Run) -> str:
    """Write ComfyUI's queue item; the texts of JSON that are kept go in as they are."""
    number, id, targets = dump(run.number), dump(run.id), dump(list(run.targets))
    return f"[{number},{id},{run.prompt},{run.extra_data},{targets}]"


def entry(run: Run, with_report: bool = False) -> str:
    """Write ComfyUI's history entry, and beside it `vinode`: times, and the report where asked."""
    outputs: dict[str, Json] = json.loads(run.outputs)
    meta = {
        id: {"node_id": id, "display_node": id, "parent_node": None, "real_node_id": id}
        for id in outputs
    }
    status = (
        f'{{"status_str":"{_STATUS.get(run.state, "error")}",'
        f'"completed":{dump(run.state == "done")},"messages":{run.messages}}}'
    )
    ours = dump(times(run))
    if with_report and run.report:
        ours = f'{ours[:-1]},"report":{run.report}}}'
    return (
        f'{{"prompt":{item(run)},"outputs":{run.outputs},"meta":{dump(meta)},'
        f'"status":{status},"vinode":{ours}}}'
    )


def times(run: Run) -> dict[str, Json]:
    """Give what became of a run, and when: in seconds since 1970, and how many it took."""
    seconds = run.ended - run.started if run.ended and run.started else 0.0
    return {
        "state": run.state,
        "accepted": run.accepted,
        "started": run.started,
        "ended": run.ended,
        "seconds": round(max(0.0, seconds), 6),
        "tries": run.tries,
    }


_ONE = "Give one ended run; in `vinode`, its times, and its report: timing and placement of nodes."
ROUTES = [
    Route("POST", "/prompt", post_prompt, "Check and queue a workflow.", body=FIELDS, mirror=True),
    Route("GET", "/prompt", get_prompt, "Say how many runs wait and run.", mirror=True),
    Route("GET", "/queue", get_queue, "Give the runs that run and wait.", mirror=True),
    Route(
        "POST", "/queue", post_queue, "Forget waiting runs.", body=_CHANGE, gives="nothing",
        mirror=True,
    ),
    Route(
        "POST", "/interrupt", post_interrupt, "Cancel the run that runs.",
        body={"prompt_id": Field("text", "only if it is this run")}, gives="nothing", mirror=True,
    ),
    Route(
        "POST", "/free", post_free, "Drop what the worker keeps.", body=_FREE, gives="nothing",
        mirror=True,
    ),
    Route(
        "GET", "/history", get_history, "Give ended runs, the oldest first.",
        {"max_items": "at most so many, the newest; 1000 where it is left out",
         "offset": "from this one on, counted from the oldest"},
        mirror=True,
    ),
    Route("GET", "/history/{prompt_id}", get_one, _ONE, mirror=True),
    Route(
        "POST", "/history", post_history, "Forget ended runs.", body=_CHANGE, gives="nothing",
        mirror=True,
    ),
]  # fmt: skip
