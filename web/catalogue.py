"""The node types of this server as bytes ready to send, made anew only when they change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from vinode.graph.context import Folders
from vinode.graph.node import AnyNodeType
from vinode.graph.plugins import Pack, Packs
from vinode.graph.ports import Choices
from vinode.graph.strict_json import Json
from vinode.web import node_info, object_info
from vinode.web.answers import dump
from vinode.web.object_info import Names

_MOST_NAMES = 20_000


@dataclass(frozen=True, slots=True)
class Page:
    """A JSON text ready to send, and a name of its content for `ETag`."""

    body: bytes
    etag: str


class Catalogue:
    """What /object_info and /vinode/nodes answer.

    Asking costs only the listing of files and models that inputs offer; where the lists are what
    they were, the bytes are too. May be asked from several threads.
    """

    def __init__(self, packs: Packs, folders: Folders) -> None:
        self.packs, self._folders = packs, folders
        self._owner = {id: pack for pack in packs.packs for id in pack.nodes}
        self._choices = _all_choices(packs)
        self._pages: dict[str, tuple[Names, Page]] = {}

    def object_info(self) -> Page:
        """Give all nodes as ComfyUI's clients read them."""
        return self._page("object_info", self._object_info)

    def nodes(self) -> Page:
        """Give all nodes, kinds and packs as our canvas reads them."""
        return self._page("nodes", self._nodes)

    def one(self, id: str) -> dict[str, Json]:
        """Give one node as ComfyUI's clients read it; nothing where there is none."""
        declared = self.packs.types.get(id)
        if declared is None:
            return {}
        own = {port.choices for port in declared.inputs if port.choices}
        names = {choices: self._names(choices) for choices in own}
        return {id: object_info.entry(declared, self._owner.get(id), names)}

    def _page(self, name: str, make: Callable[[Names], Json]) -> Page:
        names = {choices: self._names(choices) for choices in self._choices}
        known = self._pages.get(name)
        if known is not None and known[0] == names:
            return known[1]
        # Names of files may hold half a surrogate pair, which as an escape is JSON all the same.
        body = dump(make(names)).encode()
        page = Page(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
        self._pages[name] = (names, page)
        return page

    def _names(self, choices: Choices) -> Sequence[str]:
        try:
            return tuple(choices.names(self._folders))[:_MOST_NAMES]
        except Exception:  # a pack's own function: any error is its own, and the others are listed
            return ()

    def _each(self) -> list[tuple[str, AnyNodeType, Pack | None]]:
        return [(id, type, self._owner.get(id)) for id, type in self.packs.types.items()]

    def _object_info(self, names: Names) -> Mapping[str, Json]:
        return {id: object_info.entry(type, pack, names) for id, type, pack in self._each()}

    def _nodes(self, names: Names) -> Mapping[str, Json]:
        return {
            "kinds": node_info.kinds_json(self.packs.types.values()),
            "nodes": [node_info.node_json(type, pack, names) for _, type, pack in self._each()],
            "packs": node_info.packs_json(self.packs),
        }


def _all_choices(packs: Packs) -> tuple[Choices, ...]:
    found: dict[Choices, None] = {}
    for declared in packs.types.values():
        found.update((port.choices, None) for port in declared.inputs if port.choices)
    return tuple(found)
