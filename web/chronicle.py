"""What is kept of a run while it runs: ComfyUI's messages, outputs, report."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import cast

from vinode.graph.errors import Fault
from vinode.graph.strict_json import Json
from vinode.web.runs import Ended, EndState, Run

Message = tuple[str, dict[str, Json]]
_ENDS: Mapping[str, EndState] = {"done": "done", "cancelled": "cancelled"}


class Chronicle:
    """Gathers what the worker tells of one run.

    messages  [event, data] in order, as ComfyUI's history and socket have them
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.messages: list[Message] = []
        self._outputs: dict[str, Json] = {}
        self._executed: list[str] = []
        self._failed: dict[str, Json] = {}

    def add(self, message: Mapping[str, Json]) -> list[Message]:
        """Take a message of the worker; gives the messages of ComfyUI that it means."""
        match message["kind"]:
            case "run-started":
                started = self._message("execution_start", {})
                return [started, self._message("execution_cached", {"nodes": message["reused"]})]
            case "node-reused":
                self._show(message["node"], message["shown"])
            case "node-ended":
                entry = message["entry"]
                if entry["state"] in ("done", "blocked"):
                    self._executed.append(message["node"])
                    self._show(message["node"], entry.get("shown"))
                elif entry["state"] == "failed" and not self._failed:
                    self._failed = entry
            case _:
                pass
        return []

    def end(self, message: Mapping[str, Json]) -> tuple[Ended, list[Message]]:
        """Take the worker's last message of the run; gives how it ended."""
        state = _ENDS.get(message["status"], "failed")
        if not self.messages:  # refused before it began
            self._message("execution_start", {})
        if state == "done":
            last = self._message("execution_success", {})
        elif state == "cancelled":
            told = {"node_id": None, "node_type": None, "executed": self._executed}
            last = self._message("execution_interrupted", told)
        else:
            last = self._message("execution_error", self._error(message))
        return self._ended(state, str(message.get("report", ""))), [last]

    def died(
        self, problem: str, nodes: Sequence[str], state: EndState = "failed"
    ) -> tuple[Ended, list[Message]]:
        """Tell that the worker died in the midst of the run, and which nodes it ran last."""
        node = nodes[-1] if nodes else ""
        kind = self._class_of(node)
        if state == "cancelled":
            data: dict[str, Json] = {"node_id": node or None, "node_type": kind or None}
            last = self._message("execution_interrupted", {**data, "executed": self._executed})
            return self._ended(state, ""), [last]
        place = f"node {node} ({kind})" if node else "the run"
        fault = Fault(place, problem, fix="see the server's log", code="worker-died", node=node)
        fields = {name: getattr(fault, name) for name in Fault.__slots__}
        told = {"status": "failed", "faults": [fields]}
        last = self._message("execution_error", self._error(told))
        return self._ended(state, json.dumps(_short_report(self.run, fields, kind))), [last]

    def _ended(self, state: EndState, report: str) -> Ended:
        return Ended(state, json.dumps(self._outputs), json.dumps(self.messages), report)

    def _show(self, node: str, shown: Json) -> None:
        if shown:
            self._outputs[node] = shown

    def _message(self, event: str, data: Mapping[str, Json]) -> Message:
        now = int(time.time() * 1000)
        message = (event, {**data, "prompt_id": self.run.id, "timestamp": now})
        self.messages.append(message)
        return message

    def _error(self, message: Mapping[str, Json]) -> dict[str, Json]:
        """Fill ComfyUI's execution_error; our faults stand beside it in full."""
        faults = cast(Sequence[dict[str, Json]], message.get("faults") or self._failed["faults"])
        node = self._failed.get("id") or next((f["node"] for f in faults if f["node"]), "")
        lines = [str(Fault(**fault)) for fault in faults]
        trace = str(message.get("traceback") or self._failed.get("traceback") or "")
        return {
            "node_id": node,
            "node_type": self._failed.get("type") or self._class_of(node),
            "executed": self._executed,
            "exception_message": "\n".join(lines),
            "exception_type": trace.strip().splitlines()[-1].split(":")[0] if trace else "Fault",
            "traceback": trace.splitlines(keepends=True),
            "current_inputs": {},
            "current_outputs": [],
            "faults": list(faults),
        }

    def _class_of(self, node: str) -> str:
        prompt = cast(Mapping[str, Mapping[str, Json]], json.loads(self.run.prompt))
        return str(prompt[node]["class_type"]) if node in prompt else ""


def _short_report(run: Run, fault: dict[str, Json], kind: str) -> dict[str, Json]:
    """Give a report of a run whose own died with the worker."""
    entry = {"id": fault["node"], "type": kind, "title": kind, "state": "failed", "faults": [fault]}
    report: dict[str, Json] = {"vinode_report": 1, "status": "failed"}
    report["seconds"] = max(0.0, time.time() - run.started)
    report["figures"] = {}
    report["nodes"] = [entry] if fault["node"] else []
    return report
