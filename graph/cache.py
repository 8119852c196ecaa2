"""Key of a step, and results kept in memory within bytes."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from vinode.graph.context import Folders
from vinode.graph.graph import GraphNode
from vinode.graph.node import call_hook
from vinode.graph.workflow import NodeId

Key = bytes


@dataclass(frozen=True, slots=True)
class Result:
    """What a node gave: for each output its values, mostly one, and what it showed.

    shown    name -> JSON values, as ComfyUI's nodes return under `ui`
    blocked  why it gave nothing, or not everything, on purpose
    """

    outputs: tuple[tuple[object, ...], ...]
    shown: Mapping[str, tuple[object, ...]] = field(default_factory=dict[str, tuple[object, ...]])
    blocked: tuple[str, ...] = ()


def key_of(
    node: GraphNode,
    keys: Mapping[NodeId, Key | None],
    folders: Folders,
    salt: bytes | None = None,
) -> Key | None:
    """Compute a node's content key from the keys of its sources, each computed once.

    Two nodes with one key give the same result. None: never the same twice, as for a node whose
    fingerprint says so, and for all that depends on it.
    salt  of a node in an expansion, whose constants may be anything: tells those that are neither
          number nor text; empty where nothing tells them. None: the constants are JSON
    """
    type = node.type
    parts = [f"{type.id}\0{type.version}"]
    for name, value in node.constants.items():
        if salt is None or isinstance(value, _PLAIN):
            parts.append(f"{name}\0{value.__class__.__name__}\0{_text(value)}")
        elif salt:
            parts.append(f"{name}\0{salt.hex()}")
        else:
            return None
    for name, link in node.links.items():
        source = keys[link.node]
        if source is None:
            return None
        parts.append(f"{name}\0{link.slot}\0{source.hex()}")
    if type.uses_device:
        parts.append(repr(node.hint))
    if type.fingerprint is not None:
        mark = _mark(node, type.fingerprint, folders)
        if mark is None:
            return None
        parts.append(mark)
    text = "\0\0".join(parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _text(value: object) -> str:
    # Python refuses to write whole numbers of more than 4,300 digits in tens.
    return hex(value) if isinstance(value, int) else repr(value)


def _mark(node: GraphNode, fingerprint: Callable[..., str | None], folders: Folders) -> str | None:
    try:
        mark = call_hook(fingerprint, node.constants, folders)
    except Exception:  # a pack's code; the node itself will say what is wrong
        return None
    return None if mark is None else str(mark)


_PLAIN = (str, int, float, bool, type(None))


def size_of(result: Result) -> int:
    """Estimate the bytes that a result holds; arrays exactly, the rest roughly."""
    total = 200
    values = [value for row in result.outputs for value in row]
    if not result.shown and all(isinstance(value, _PLAIN) for value in values):
        return total + sum(len(value) for value in values if isinstance(value, str))
    seen: set[int] = set()
    waiting: list[object] = [*result.outputs, result.shown]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        total += 64
        if isinstance(value, _PLAIN) and not isinstance(value, str):
            continue
        if isinstance(value, np.ndarray):
            # A view keeps the whole array that it looks at.
            base = cast(object, value.base)
            total += base.nbytes if isinstance(base, np.ndarray) else value.nbytes
        elif isinstance(value, str | bytes):
            total += len(value)
        elif names := _parts(cast(Any, type(value))):
            waiting += [getattr(value, name) for name in names]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += list(value)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]  # pyright: ignore[reportUnknownArgumentType]
    return total


@lru_cache(256)
def _parts(type: Any) -> tuple[str, ...]:
    """Name the fields of a dataclass; of any other type, none."""
    return tuple(part.name for part in fields(type)) if is_dataclass(type) else ()


class Cache:
    """Results of earlier runs by key: the least recently used go first when bytes run out.

    Shared by runs and threads. A run in progress holds its own values, so eviction never breaks it.
    """

    def __init__(self, limit: int = 2 * 2**30) -> None:
        self.limit = limit
        self.bytes = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, tuple[Result, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key | None) -> Result | None:
        """Give the result kept under a key, and mark it as used."""
        if key is None:
            return None
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Key | None, result: Result) -> None:
        """Keep a result, dropping the least recently used; one over the limit is not kept."""
        if key is None:
            return
        size = size_of(result)
        with self._lock:
            old = self._kept.pop(key, None)
            self.bytes -= old[1] if old else 0
            if size > self.limit:
                return
            self._kept[key] = (result, size)
            self.bytes += size
            while self.bytes > self.limit:
                _, (_, freed) = self._kept.popitem(last=False)
                self.bytes -= freed

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._kept.clear()
            self.bytes = 0
