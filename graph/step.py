"""One step: gather a node's inputs, call it, check what it gave."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import cast

from vinode.graph.arguments import Call, Sources, Values, calls
from vinode.graph.context import Blocked, BlockedInput, Expansion
from vinode.graph.errors import Fault, NodeError, VinodeError, short
from vinode.graph.graph import GraphNode
from vinode.graph.kinds import value_problem
from vinode.graph.ports import Output
from vinode.graph.step_context import StepContext
from vinode.graph.values import all_read_only

Given = Values | Expansion

_LONGEST_TRACEBACK = 20_000  # letters


def run_calls(context: StepContext, sources: Sources) -> list[Given]:
    """Call a node for each set of its inputs and check what it gives."""
    node = context.step.node
    function, name = node.type.function, node.type.signature.context
    given: list[Given] = []
    for call in calls(context.step, sources, context.asked, context.folders):
        context.check_cancelled()
        answer: object = call
        if isinstance(call, dict):
            if name:
                call[name] = context
            try:
                answer = function(**call)
            except BlockedInput as lazy:
                answer = lazy.blocked
            except (SystemExit, KeyboardInterrupt) as error:
                raise _left(error) from error
        given.append(_outputs(node, answer, context))
    return given


async def run_async_calls(context: StepContext, sources: Sources) -> list[Given]:
    """Call an async node for each set of its inputs, all at once; the first failure ends all."""
    node = context.step.node
    function, name = node.type.function, node.type.signature.context

    async def one(call: Call | Blocked) -> Given:
        answer: object = call
        if isinstance(call, dict):
            if name:
                call[name] = context
            try:
                answer = await function(**call)
            except BlockedInput as lazy:
                answer = lazy.blocked
            except (SystemExit, KeyboardInterrupt) as error:
                raise _left(error) from error
        return _outputs(node, answer, context)

    context.check_cancelled()
    tasks = [
        asyncio.ensure_future(one(call))
        for call in calls(context.step, sources, context.asked, context.folders)
    ]
    try:
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        failed = [task for task in tasks if task.done() and task.exception() is not None]
        return [task.result() for task in failed or tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _left(error: BaseException) -> NodeError:
    """Turn a node's attempt to end the program into its own failure."""
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    return NodeError(said, fix="raise NodeError to refuse inputs, return to end")


def _outputs(node: GraphNode, answer: object, context: StepContext) -> Given:
    """Check one answer of a node against its signature, and make its arrays read-only."""
    ports = node.type.outputs
    if isinstance(answer, Expansion):
        return answer
    if isinstance(answer, Blocked):
        context.blocked.append(answer.message)
        return (answer,) * len(ports)
    values: Values = (answer,) if ports else ()
    if node.type.signature.several and isinstance(answer, tuple):
        values = cast(Values, answer)
    if len(values) != len(ports):
        problem = f"gave {len(values)} outputs instead of {len(ports)}"
        raise VinodeError(Fault(node.place, problem, code="bad-output", node=node.id))
    for port, value in zip(ports, values, strict=True):
        check_output(node, port, value)
    return values


def check_output(node: GraphNode, port: Output, value: object) -> None:
    """Raise VinodeError where a value is not what an output gives; make arrays read-only."""
    items = [value]
    if port.many and not isinstance(value, Blocked):
        if not isinstance(value, list):
            fault = Fault(node.place, f"output {port.name} must be a list", short(value))
            raise VinodeError(replace(fault, code="bad-output", node=node.id))
        items = cast(list[object], value)
    for item in items:
        if isinstance(item, Blocked):
            continue
        wrong = value_problem(item, port.kind)
        if wrong:
            fault = Fault(f"{node.place}, output {port.name}", wrong, short(item))
            raise VinodeError(replace(fault, code="bad-output", node=node.id))
        if not isinstance(item, str | int | float):
            all_read_only(item)


def faults_of(error: BaseException, node: GraphNode) -> tuple[tuple[Fault, ...], str]:
    """Turn what a node raised into faults with its place, and a traceback where it is a bug."""
    if isinstance(error, VinodeError) and error.faults:
        return tuple(_at(fault, node) for fault in error.faults), ""
    text = "".join(traceback.format_exception(error))[-_LONGEST_TRACEBACK:]
    said = _said(error)
    fix = ""
    if "read-only" in said and isinstance(error, ValueError):
        fix = "inputs are read-only: work on `pixels.copy()`"
    problem = f"{type(error).__name__}: {said[:2000]}"
    if isinstance(error, MemoryError):
        problem, fix = "memory ran out", "use smaller pictures or batches, or close other programs"
    fix = fix or _line_of(error)
    return (Fault(node.place, problem, fix=fix, code="node-crashed", node=node.id),), text


def _line_of(error: BaseException) -> str:
    """Name the line that raised: a pack's author looks there first."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f"see {Path(frames[-1].filename).name}, line {frames[-1].lineno}"


def _said(error: BaseException) -> str:
    try:
        return str(error) or "no message"
    except Exception:  # somebody else's __str__: any error is its own, and we are reporting one
        return "its message cannot be shown"


def _at(fault: Fault, node: GraphNode) -> Fault:
    if fault.node:
        return fault
    own = fault.place in ("", "the node")
    place = node.place if own else f"{node.place}, {fault.place}"
    return replace(fault, place=place, node=node.id)


def messages_of(values: Iterable[object]) -> list[str]:
    """Give the messages of the Blocked among values."""
    return [value.message for value in values if isinstance(value, Blocked) and value.message]
