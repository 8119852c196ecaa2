"""What can be seen in a node's source that makes it give another result for the same inputs."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator

from vinode.graph.errors import Fault
from vinode.graph.node import AnyNodeType

_CHANGING = re.compile(
    r"(time\.(time|perf_counter|monotonic)(_ns)?|(datetime\.)?(datetime|date)\.(now|today|utcnow)"
    r"|random\.\w+|(np|numpy)\.random\.\w+|uuid\.uuid[14]|secrets\.\w+|os\.(getenv|environ\.get))"
)
_SEEDED = re.compile(r"(random\.Random|(np|numpy)\.random\.(default_rng|RandomState|Generator))")
_READING = re.compile(
    r"open|.*\.(read_text|read_bytes|open)|(np|numpy)\.(load|loadtxt|fromfile)|cv2\.imread"
    r"|urllib\.request\.urlopen|requests\.\w+"
)
_TALKING = {"print": "use context.progress or context.show", "input": "take an input of the node"}


def impurities(declared: AnyNodeType) -> Iterator[Fault]:
    """Give what makes a node impure, a fault each; a place is a line of the function.

    A node with a fingerprint, and one that ends a workflow, may read files and clocks.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(declared.function)))
    except (OSError, TypeError, SyntaxError):  # without source there is nothing to look at
        return
    may_change = declared.is_output or declared.fingerprint is not None
    written = _written_inputs(tree, {port.name for port in declared.inputs})
    for found in ast.walk(tree):
        place = f"line {getattr(found, 'lineno', 0)} of it"
        match found:
            case ast.Global(names=names):
                fix = "give what it keeps to the next node as an output"
                yield Fault(place, f"it writes the global {', '.join(names)}", fix=fix)
            case ast.Call():
                yield from _call(found, may_change, place)
            case ast.Assign() | ast.AugAssign() if id(found) in written:
                fix = "inputs are read-only and shared: work on a copy"
                yield Fault(place, f"it writes into its input {written[id(found)]!r}", fix=fix)
            case _:
                pass


def _call(call: ast.Call, may_change: bool, place: str) -> Iterator[Fault]:
    name = ast.unparse(call.func)
    if name in _TALKING:
        yield Fault(place, f"it calls {name}()", fix=_TALKING[name])
    elif may_change or (_SEEDED.fullmatch(name) and (call.args or call.keywords)):
        return
    elif _CHANGING.fullmatch(name):
        fix = "take `seed: Annotated[int, Seed()]`, or say fingerprint=... in @node"
        yield Fault(place, f"{name}() is not the same twice", fix=fix)
    elif _READING.fullmatch(name):
        fix = "say fingerprint=... in @node, the hash of what is read"
        yield Fault(place, f"{name}() reads what may change unnoticed", fix=fix)


def _written_inputs(tree: ast.AST, inputs: set[str]) -> dict[int, str]:
    """Find assignments into an input's items or attributes; a name that was bound anew is free."""
    assignments = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AugAssign)]
    bound: set[str] = set()
    written: dict[int, str] = {}
    for assignment in assignments:
        targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
        for target in targets:
            if isinstance(target, ast.Name):
                bound.add(target.id)
                continue
            root: ast.expr = target
            while isinstance(root, ast.Subscript | ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in inputs:
                written[id(assignment)] = root.id
    return {key: name for key, name in written.items() if name not in bound}
