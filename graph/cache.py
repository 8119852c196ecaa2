"""Key of a step, and results kept in memory within bytes."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass

import numpy as np

from vinode.graph.context import Folders
from vinode.graph.graph import GraphNode
from vinode.graph.node import call_hook
from vinode.graph.workflow import NodeId

Key = bytes


@dataclass(frozen=True, slots=True)
class Result:
    """What a node gave: for each output its values, mostly one, and what it showed.

    shown  name -> JSON values, as ComfyUI's nodes return under `ui`
    """

    outputs: tuple[tuple[object, ...], ...]
    shown: Mapping[str, tuple[object, ...]] = field(default_factory=dict[str, tuple[object, ...]])


def key_of(
    node: GraphNode, keys: Mapping[NodeId, Key | None], folders: Folders, salt: bytes = b""
) -> Key | None:
    """Compute a node's content key from the keys of its sources, each computed once.

    Two nodes with one key give the same result. None: never the same twice, as for a node whose
    fingerprint says so, and for all that depends on it.
    salt  stands for values that are no JSON: where in an expansion the node is
    """
    digest = hashlib.blake2b(salt, digest_size=16)
    digest.update(f"{node.type.id}\0{node.type.version}\0".encode())
    for name, value in node.constants.items():
        shown = repr(value) if isinstance(value, _PLAIN) else "" if salt else repr(value)
        digest.update(f"{name}\0{type(value).__name__}\0{shown}\0".encode("utf-8", "surrogatepass"))
    for name, link in node.links.items():
        source = keys[link.node]
        if source is None:
            return None
        digest.update(f"{name}\0{link.slot}\0".encode("utf-8", "surrogatepass") + source)
    if node.type.uses_device:
        digest.update(repr((node.hint.text, node.hint.options)).encode())
    if node.type.fingerprint is not None:
        mark = call_hook(node.type.fingerprint, node.constants, folders)
        if mark is None:
            return None
        digest.update(str(mark).encode("utf-8", "surrogatepass"))
    return digest.digest()


_PLAIN = (str, int, float, bool, type(None))


def size_of(result: Result) -> int:
    """Estimate the bytes that a result holds; arrays exactly, the rest roughly."""
    total = 200
    if not result.shown and all(isinstance(v, _PLAIN) for row in result.outputs for v in row):
        return total + sum(len(v) for row in result.outputs for v in row if isinstance(v, str))
    seen: set[int] = set()
    waiting: list[object] = [*result.outputs, result.shown]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        total += 64
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, str | bytes):
            total += len(value)
        elif isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += list(value)  # pyright: ignore[reportUnknownArgumentType]
        elif is_dataclass(value):
            waiting += [getattr(value, part.name) for part in fields(value)]
    return total


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
