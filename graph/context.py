"""What a node may ask of the engine, and the special values it may take or give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from vinode.graph.values import Image, ModelPart

T = TypeVar("T")

Phase: TypeAlias = Literal[
    "wait", "convert", "load", "compile", "upload", "compute", "download", "host"
]
PHASES: tuple[Phase, ...] = (
    "wait",
    "convert",
    "load",
    "compile",
    "upload",
    "compute",
    "download",
    "host",
)


@dataclass(frozen=True, slots=True)
class Folders:
    """Where a run reads and writes.

    input          pictures that a workflow names
    output, temp   what a run leaves; temp is for previews
    models         model store and model files, searched in order; the first is written to
    beside         the workflow's own folder: relative paths are looked up there too
    anywhere       whether a workflow may name a path outside the folders (the command line: yes)
    named          names given on the command line: --input NAME=PATH
    """

    input: Path
    output: Path
    temp: Path
    models: tuple[Path, ...]
    beside: Path | None = None
    anywhere: bool = False
    named: Mapping[str, Path] | None = None


class OpenModel(Protocol):
    """A model that a node holds: write into `inputs`, run, look at `views()`, again and again."""

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Give the memory that the next inference reads, of the model's shapes and dtypes."""
        ...

    def run(self) -> None:
        """Run one inference; raises Cancelled where the run was cancelled."""
        ...

    def views(self) -> Mapping[str, NDArray[Any]]:
        """Give the outputs without a copy; the next inference overwrites them."""
        ...


class Context(Protocol):
    """The engine, as a node sees it: asked for by a parameter of this type."""

    @property
    def node_id(self) -> str:
        """Give the id of the running node in its workflow."""
        ...

    @property
    def folders(self) -> Folders:
        """Give the folders of this run."""
        ...

    @property
    def file_text(self) -> Mapping[str, str]:
        """Give the text that a saved picture carries: key to JSON, the workflow among them."""
        ...

    def progress(self, done: float, total: float, preview: Image | None = None) -> None:
        """Tell how far the node is; raises Cancelled where the run was cancelled."""
        ...

    def check_cancelled(self) -> None:
        """Raise Cancelled where the run was cancelled."""
        ...

    def phase(self, phase: Phase) -> AbstractContextManager[None]:
        """Time a stretch of the node's work as `phase` instead of as host time."""
        ...

    def infer(
        self, part: ModelPart, inputs: Mapping[str, NDArray[Any]], exact: bool = False
    ) -> Mapping[str, NDArray[np.float32]]:
        """Run a model on the node's device: name to array in, name to array out.

        An input's shape is the shape the part is compiled for; dtypes are the model's own.
        exact  in float32, whatever the node's hint: for what overflowed in half precision
        """
        ...

    def open(
        self, part: ModelPart, shapes: Mapping[str, tuple[int, ...]], shared: bool = False
    ) -> AbstractContextManager[OpenModel]:
        """Hold a model for many inferences: its inputs are written, its outputs read, in place.

        shared  inputs of B rows beside others of n B are repeated n times, where they meet: for a
                model that answers each row by itself, without computing the same again

        It is the node's alone meanwhile: `infer` of the same part and shapes inside is refused.
        """
        ...

    def prefers_single(self, part: ModelPart) -> bool:
        """Say whether two calls of batch 1 will do better than one of batch 2.

        They do on an NPU (docs/devices.md); for the two halves of classifier-free guidance.
        """
        ...

    def show(self, name: str, items: Sequence[object]) -> None:
        """Hand JSON values to whoever watches: what ComfyUI's nodes return under `ui`."""
        ...


class NotComputedYet(BaseException):
    """A lazy input was asked for before it was computed: the engine computes it and calls again.

    Not an Exception, so that a node's own `except Exception` does not swallow it.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Lazy(Generic[T]):
    """An input that is computed only when the node asks for its value.

    The node is called again from its start once the value is there, so ask before working.

    >>> Lazy.of(5).value
    5
    """

    __slots__ = ("_get", "source")

    def __init__(self, get: Callable[[], T], source: tuple[str, int] | None = None) -> None:
        self._get = get
        self.source = source

    @classmethod
    def of(cls, value: T) -> Lazy[T]:
        """Wrap a value that is there already; for tests and for calling a node as a function."""
        return cls(lambda: value)

    @property
    def value(self) -> T:
        """Give the value, computing whatever it needs."""
        return self._get()


def is_lazy(value: object) -> TypeGuard[Lazy[object]]:
    """Say whether a value is a lazy input; type checkers cannot know of what."""
    return isinstance(value, Lazy)


@dataclass(frozen=True, slots=True)
class Blocked:
    """Given instead of an output: nodes that need it are not run, which is no failure.

    message  why, shown to the user; empty to be silent
    """

    message: str = ""


class BlockedInput(BaseException):
    """A lazy input that was asked for is Blocked: the node is left, and gives Blocked itself.

    Not an Exception, for the same reason as NotComputedYet.
    """

    def __init__(self, blocked: Blocked) -> None:
        super().__init__(blocked)
        self.blocked = blocked


@dataclass(frozen=True, slots=True)
class Wire:
    """An output of a node inside a subgraph that is being built."""

    node: str
    slot: int


@dataclass(frozen=True, slots=True)
class SubgraphNode:
    """A node inside an expansion. Inputs are values, `Wire`s, or `Lazy` inputs passed on."""

    class_type: str
    inputs: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Expansion:
    """Nodes that take the place of the one that returned them, and what stands for its outputs."""

    nodes: Mapping[str, SubgraphNode]
    outputs: tuple[object, ...]


class Subgraph:
    """Builds an expansion: a node may return nodes to run in its place.

    >>> graph = Subgraph()
    >>> once = graph.add("ImageInvert", image="...")
    >>> graph.result(graph.add("ImageInvert", image=once[0])[0]).outputs
    (Wire(node='2', slot=0),)
    """

    def __init__(self) -> None:
        self._nodes: dict[str, SubgraphNode] = {}

    def add(self, class_type: str, /, **inputs: object) -> Added:
        """Add a node; its outputs are `added[0]`, `added[1]`, ..."""
        local = str(len(self._nodes) + 1)
        self._nodes[local] = SubgraphNode(class_type, inputs)
        return Added(local)

    def result(self, *outputs: object) -> Expansion:
        """Close the subgraph: one wire or value for each output of the expanding node."""
        return Expansion(dict(self._nodes), outputs)


@dataclass(frozen=True, slots=True)
class Added:
    """A node that was added to a subgraph; index it for its outputs."""

    node: str

    def __getitem__(self, slot: int) -> Wire:
        return Wire(self.node, slot)
