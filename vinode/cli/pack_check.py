"""What is wrong with a pack, all of it, for its author: more than loading refuses."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from vinode.cli.pack_purity import impurities
from vinode.graph import diffusion, kinds, values
from vinode.graph.drop_in import plain
from vinode.graph.errors import Fault, nearest
from vinode.graph.kinds import Kind
from vinode.graph.node import AnyNodeType
from vinode.graph.plugins import BUILTIN, Pack, Packs, Source, dropped_in, installed, load
from vinode.graph.ports import Input, Output

_COLOUR = re.compile("#[0-9a-f]{6}")


def check(target: str) -> tuple[tuple[Pack, ...], tuple[Fault, ...]]:
    """Load the packs that `target` names, and give them with everything that is wrong.

    target  name or module of an installed pack, or the path of a file, a package, a folder of
            them, or a project whose pack is installed
    """
    known = installed()
    wanted = _installed_as(target, known)
    found = list(dropped_in([Path(target)])) if not wanted and Path(target).exists() else []
    if not wanted and not found:
        return (), (_unknown(target, known),)
    # Everything installed is loaded too: an id that another pack has is the author's to change.
    packs = load([*known, *found])
    names = {source.origin for source in (*wanted, *found)}
    mine = tuple(pack for pack in packs.packs if pack.origin in names)
    return mine, tuple(fault for pack in mine for fault in _pack_faults(pack, packs))


def _installed_as(target: str, known: Iterable[Source]) -> list[Source]:
    project = Path(target) / "pyproject.toml"
    if not project.is_file():
        return [source for source in known if source.name == target or source.module == target]
    try:
        data = tomllib.loads(project.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the folder is then reported as it is
        return []
    points: dict[str, str] = data.get("project", {}).get("entry-points", {}).get("vinode.nodes", {})
    return [source for source in known if source.module in points.values()]


def _unknown(target: str, known: Iterable[Source]) -> Fault:
    names = [source.name for source in known]
    close = nearest(target, names)
    fix = f"did you mean {close!r}?" if close else f"known are {', '.join(names)}, or give a path"
    return Fault("pack", "there is no such pack and no such file", repr(target), fix)


def _pack_faults(pack: Pack, packs: Packs) -> Iterator[Fault]:
    if pack.problem:
        yield pack.problem
        return
    place = f"pack {pack.name!r}"
    if not pack.nodes:
        fix = "put @node above a function of a module whose name does not begin with _ or test"
        yield Fault(place, "it brings no node", pack.origin, fix)
    prefix = "" if pack.name == BUILTIN.name else re.sub(r"\W", "_", pack.name)
    modules = sorted({packs.types[id].function.__module__ for id in pack.nodes})
    for name in modules:
        yield from _lost_nodes(name)
    for id in pack.nodes:
        declared = packs.types[id]
        where = plain(f"node {id!r}, {declared.origin}")
        for fault in (*_words(declared, prefix), *_kinds(declared), *impurities(declared)):
            yield replace(fault, place=f"{where}, {fault.place}" if fault.place else where)


def _words(declared: AnyNodeType, prefix: str) -> Iterator[Fault]:
    if prefix and re.sub(r"\W", "_", declared.id.partition(".")[0]) != prefix:
        fix = f"call it '{prefix}.{declared.id}'"
        yield Fault("", "the id does not begin with the pack's name, so it may clash", fix=fix)
    if not declared.category.strip("/ "):
        yield Fault("", "the category is empty", fix="give one, for example 'image/transform'")
    if not declared.signature.help:
        yield Fault("", "it has no docstring", fix="say in one sentence what it does, and for whom")
    for port in declared.inputs:
        if not port.help:
            fix = f"add a row to the docstring: `{port.name}  what it is, and its unit`"
            yield Fault(f"input {port.name!r}", "it has no help", fix=fix)
    for output in declared.outputs if declared.signature.several else ():
        if not output.help:
            fix = f"add a row to the docstring: `{output.name}  what it is`"
            yield Fault(f"output {output.name!r}", "it has no help", fix=fix)


def known_kinds() -> dict[str, Kind]:
    """Give the kinds that vinode itself has, by name."""
    things = [thing for module in (kinds, values, diffusion) for thing in vars(module).values()]
    owned = [getattr(thing, "kind", None) for thing in things if inspect.isclass(thing)]
    return {kind.name: kind for kind in (*things, *owned) if isinstance(kind, Kind)}


def _kinds(declared: AnyNodeType) -> Iterator[Fault]:
    ours = known_kinds()
    ports: tuple[Input | Output, ...] = (*declared.inputs, *declared.outputs)
    for port in ports:
        kind = port.kind
        if kind is not ours.get(kind.name, kind):
            problem = f"its kind {kind.name} is another than vinode's of that name"
            yield Fault(repr(port.name), problem, fix="import vinode's, or rename yours")
        if not _COLOUR.fullmatch(kind.colour):
            fix = "write #rrggbb in small letters"
            yield Fault(repr(port.name), f"kind {kind.name} has no colour", kind.colour, fix)
        if not kind.about.strip():
            fix = "say shape, dtype, range and unit"
            yield Fault(repr(port.name), f"kind {kind.name} does not say what it is", fix=fix)


def _lost_nodes(module_name: str) -> Iterator[Fault]:
    """Find functions under @node that a later one of the same name has replaced."""
    module = sys.modules.get(module_name)
    try:
        tree = ast.parse(inspect.getsource(module)) if module else None
    except (OSError, TypeError, SyntaxError):  # without source there is nothing to look at
        return
    seen: set[str] = set()
    for statement in tree.body if tree else []:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if statement.name in seen:
            place = plain(f"{module_name}, line {statement.lineno}")
            problem = f"a second function {statement.name!r}: the first is lost"
            yield Fault(place, problem, fix="rename one of them")
        seen.add(statement.name)
