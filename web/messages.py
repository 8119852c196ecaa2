"""What is told of runs -> messages of the socket: ComfyUI's, and our own for those who ask."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vinode.graph.strict_json import Json
from vinode.web.answers import dump
from vinode.web.progress_view import RunView
from vinode.web.told import Told

Wish: TypeAlias = Literal["all", "comfy", "comfy flags", "flags", "no flags", "vinode"]
_PREVIEW, _PREVIEW_WITH_DATA, _JPEG = 1, 4, 1


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the socket, written only where somebody takes it.

    told  type and data of a text; or the bytes of a preview
    wish  which clients take it: all; comfy: those that read ComfyUI's messages; flags, no flags:
          those that said what they can (`supports_preview_metadata`), or did not; comfy flags:
          those that are both; vinode: those that asked for our own
    key   a later message of the same key makes this one needless; "" for one that must arrive
    """

    told: tuple[str, Mapping[str, Json]] | bytes
    wish: Wish = "all"
    key: str = ""

    def content(self) -> str | bytes:
        """Write it: a text is `{"type": T, "data": D}`."""
        if isinstance(self.told, bytes):
            return self.told
        type, data = self.told
        return dump({"type": type, "data": data})


def message(type: str, data: Mapping[str, Json], wish: Wish = "all", key: str = "") -> Message:
    """Make a message of text."""
    return Message((type, data), wish, key)


def status(remaining: int, sid: str = "") -> Message:
    """Tell how many runs wait and run; the first message of a socket says its id too."""
    told: dict[str, Json] = {"status": {"exec_info": {"queue_remaining": remaining}}}
    return message("status", {**told, "sid": sid} if sid else told, key="" if sid else "status")


def of_everybody(told: Told) -> Iterator[Message]:
    """Write what is of no run."""
    if told.kind == "queue":
        yield status(int(told.data["remaining"]))
        yield message("vinode_queue", told.data, "vinode", "queue")
    elif told.kind == "worker":
        yield message("vinode_worker", told.data, "vinode", "worker")


def of_run(told: Told, view: RunView) -> Iterator[Message]:
    """Write what is told of a run, for the client that asked for it."""
    data = told.data
    node = str(data.get("node", ""))
    match told.kind:
        case "execution":
            yield message(str(data["event"]), data["data"])
        case "run-started":
            begun = {"prompt_id": told.run, "steps": view.steps, "reused": data["reused"]}
            yield message("vinode_run", {**begun, "state": "running", "percent": 0}, "vinode")
        case "node-started":
            yield _executing(node, view)
            yield from _state(view)
            yield _node(view, node, {"state": "running", "lane": data["lane"]})
        case "node-progress":
            yield from _progress(told, node, view)
        case "node-reused":
            yield from _shown(node, view, data["shown"])
            shown = {"shown": data["shown"]} if data["shown"] else {}
            yield _node(view, node, {"state": "reused", **shown})
        case "node-expanded":
            yield _node(view, node, {"state": "expanded", "children": data["children"]})
        case "node-blocked":
            yield _node(view, node, {"state": "blocked", "message": data["message"]})
        case "node-ended":
            entry = data["entry"]
            if entry.get("shown"):
                yield from _shown(node, view, entry["shown"])
            yield _node(view, node, entry)
        case "run-ended":
            yield message("executing", {"node": None, "prompt_id": told.run}, "comfy")
            percent = 100.0 if data["state"] == "done" else view.percent
            ended = {"prompt_id": told.run, **data, "percent": percent}
            yield message("vinode_run", ended, "vinode")
        case _:
            pass


def where_it_is(view: RunView) -> Iterator[Message]:
    """Tell a client that comes back which of its nodes run."""
    for node in view.running:
        yield _executing(node, view)
    told = {"prompt_id": view.run, "state": "running", "steps": view.steps}
    running = {"running": list(view.running), "percent": view.percent}
    yield message("vinode_run", {**told, **running}, "vinode")


def _executing(node: str, view: RunView) -> Message:
    told = {"node": node, "display_node": view.root(node), "prompt_id": view.run}
    return message("executing", told, "comfy")


def _shown(node: str, view: RunView, shown: Json) -> Iterator[Message]:
    if shown:
        told = {"node": node, "display_node": view.root(node), "output": shown}
        yield message("executed", {**told, "prompt_id": view.run}, "comfy")


def _node(view: RunView, node: str, entry: Mapping[str, Json]) -> Message:
    root = view.root(node)
    inside = {"display_node": root} if root != node else {}
    told = {**inside, **entry, "percent": view.percent}
    told.pop("id", None)  # of an entry of the report; it is the node
    return message("vinode_node", {"prompt_id": view.run, "node": node, **told}, "vinode")


def _progress(told: Told, node: str, view: RunView) -> Iterator[Message]:
    data, key = told.data, f"{told.run} {node}"
    value = {"value": data["done"], "max": data["total"], "prompt_id": told.run, "node": node}
    yield message("progress", value, "comfy", f"progress {key}")
    yield from _state(view)
    ours = {"prompt_id": told.run, "node": node, "done": data["done"], "total": data["total"]}
    note = {"note": data["note"]} if data.get("note") else {}
    ours = {**ours, **note, "percent": view.percent}
    yield message("vinode_progress", ours, "vinode", f"progress {key}")
    if told.preview:
        plain = struct.pack(">II", _PREVIEW, _JPEG) + told.preview
        yield Message(plain, "no flags", f"preview {key}")
        about = json.dumps({**_names(node, view), "image_type": "image/jpeg"}).encode()
        head = struct.pack(">II", _PREVIEW_WITH_DATA, len(about)) + about
        yield Message(head + told.preview, "flags", f"preview {key}")


def _state(view: RunView) -> Iterator[Message]:
    """Tell the newer clients of the nodes that run now; all others would be most of the traffic."""
    nodes: dict[str, Json] = {}
    for node in view.running:
        done, total = view.shares.get(node, (0.0, 1.0))
        nodes[node] = {"value": done, "max": total, "state": "running", **_names(node, view)}
    told = {"prompt_id": view.run, "nodes": nodes}
    yield message("progress_state", told, "comfy flags", f"state {view.run}")


def _names(node: str, view: RunView) -> dict[str, Json]:
    root = view.root(node)
    return {
        "node_id": node,
        "prompt_id": view.run,
        "display_node_id": root,
        "parent_node_id": root if root != node else None,
        "real_node_id": node,
    }
