"""@node: a typed function becomes a NodeType; collect: a table of them without a registry."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast

from vinode.graph import signature
from vinode.graph.context import Folders
from vinode.graph.errors import DeclarationError, Fault, short
from vinode.graph.hints import mistake
from vinode.graph.ports import Input, Output
from vinode.graph.signature import Signature
from vinode.graph.values import PartUse

P = ParamSpec("P")
R = TypeVar("R")

_ID = re.compile(r"[A-Za-z_]([\w.+ -]{0,118}[\w.+-])?")
_TITLE_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


@dataclass(frozen=True, slots=True, eq=False)
class NodeType(Generic[P, R]):
    """A kind of node. Still callable and type-checked as the function it was made from.

    is_output    an end of a workflow: such nodes are what a run is for
    fingerprint  tells what a node depends on beside its inputs (a file's content): constant inputs
                 and `folders` by name -> text, or None for "never the same twice"
    check        says before a run what is wrong with constant inputs: the same parameters -> Fault
    known        what the node will give, where that follows from its inputs without work, such as a
                 loader's handle: the same parameters -> the output, a tuple of several, or None;
                 True where the node itself may be asked, since it is quick and needs no Context
    parts        which models the node runs, and at which shapes: the same parameters, but a link
                 has what its source's `known` gives -> PartUses, or None where that is not enough
    version      part of the cache key: raise it when the same inputs give another result
    """

    id: str
    function: Callable[P, R]
    signature: Signature
    title: str
    category: str
    is_output: bool
    fingerprint: Callable[..., str | None] | None
    check: Callable[..., Fault | None] | None
    known: Callable[..., object] | None
    parts: Callable[..., Sequence[PartUse] | None] | None
    version: int
    is_async: bool

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function as it is: a node is tested like any other function."""
        return self.function(*args, **kwargs)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Give the inputs in the order of the signature."""
        return self.signature.inputs

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Give the outputs; a link's slot is an index into them."""
        return self.signature.outputs

    @property
    def uses_device(self) -> bool:
        """Say whether it compiles a model and so runs on a device's lane."""
        return any(port.kind.is_model for port in self.inputs)

    @property
    def origin(self) -> str:
        """Give module and line of the function, for messages that name two nodes."""
        code = inspect.unwrap(self.function).__code__
        return f"{self.function.__module__}, line {code.co_firstlineno}"


AnyNodeType = NodeType[..., Any]
NodeTypes = Mapping[str, AnyNodeType]


def node(
    id: str,
    *,
    category: str,
    title: str = "",
    output: bool | None = None,
    fingerprint: Callable[..., str | None] | None = None,
    check: Callable[..., Fault | None] | None = None,
    known: Callable[..., object] | Literal[True] | None = None,
    parts: Callable[..., Sequence[PartUse] | None] | None = None,
    version: int = 1,
) -> Callable[[Callable[P, R]], NodeType[P, R]]:
    """Make a node of a typed function; its signature is the only declaration.

    Raises DeclarationError that names function, parameter and fix where the signature is not one.
    It registers nothing: packs name their modules. A node without outputs ends a workflow.
    """

    def declare(function: Callable[P, R]) -> NodeType[P, R]:
        place = _check_function(function, id)
        read = signature.read(function, id)
        told = _itself(function, read, place) if known is True else known
        hooks = {"fingerprint": fingerprint, "check": check, "known": told, "parts": parts}
        _check_hooks(hooks, read, place)
        return NodeType(
            id,
            function,
            read,
            title or _TITLE_BREAK.sub(" ", id.rpartition(".")[2] or id),
            category,
            not read.outputs if output is None else output,
            fingerprint,
            check,
            told,
            parts,
            version,
            inspect.iscoroutinefunction(function),
        )

    return declare


def _itself(function: Callable[..., object], read: Signature, place: str) -> Callable[..., object]:
    """Give the hook that runs the node, once all its inputs are known."""
    names = [port.name for port in read.inputs]
    if list(inspect.signature(function).parameters) != names:
        fix = "give a function of its inputs instead"
        raise mistake(f"{place}, known", "a node that takes a Context cannot be asked", fix)

    @functools.wraps(function)
    def told(**given: object) -> object:
        missing = any(given[name] is None for name in names)
        return None if missing else function(**given)

    return told


def _check_function(function: Callable[..., object], id: str) -> str:
    """Give the place for messages, `node 'id', function module.name`, of what may be a node."""
    if not inspect.isfunction(function):
        raise mistake(
            f"node {id!r}", "only a function is a node", "put @node above a def", short(function)
        )
    place = f"node {id!r}, function {function.__module__}.{function.__qualname__}"
    if not _ID.fullmatch(id):
        fix = "start with a letter, then letters, digits, . _ + - and spaces; at most 120"
        raise mistake(place, "the id must be a name", fix)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise mistake(place, "a generator is no node", "return instead of yield")
    return place


def _check_hooks(
    hooks: Mapping[str, Callable[..., object] | None], read: Signature, place: str
) -> None:
    for name, hook in hooks.items():
        if hook is not None:
            _check_hook(hook, read, f"{place}, {name}")


def _check_hook(hook: Callable[..., object], read: Signature, where: str) -> None:
    if not callable(hook) or inspect.iscoroutinefunction(hook):
        raise mistake(where, "it must be a plain function", "give a def", short(hook))
    inputs = {port.name for port in read.inputs} | {"folders"}
    for parameter in inspect.signature(hook).parameters.values():
        by_name = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if parameter.name not in inputs or not by_name:
            fix = f"take only {', '.join(sorted(inputs))}"
            raise mistake(where, f"{str(parameter)!r} is no input", fix)


def call_hook(hook: Callable[..., Any], constants: Mapping[str, object], folders: Folders) -> Any:
    """Call a hook with those inputs that it asks for; one that is not known is None."""
    values: dict[str, object] = {"folders": folders, **constants}
    names = inspect.signature(hook).parameters
    return hook(**{name: values.get(name) for name in names})


def collect(modules: Iterable[ModuleType]) -> dict[str, AnyNodeType]:
    """Gather the node types of modules; a second node with the same id is refused, naming both."""
    found: dict[str, AnyNodeType] = {}
    for module in modules:
        for value in vars(module).values():
            if not isinstance(value, NodeType):
                continue
            declared = cast(AnyNodeType, value)
            other = found.setdefault(declared.id, declared)
            if other is not declared:
                refuse_duplicate(other, declared)
    return found


def refuse_duplicate(first: AnyNodeType, second: AnyNodeType) -> None:
    """Raise DeclarationError naming both nodes that claim one id."""
    problem = f"{first.id!r} is declared twice: {first.origin} and {second.origin}"
    raise DeclarationError(Fault("nodes", problem, fix="rename one of them", code="duplicate-id"))
