"""docs/nodes.md: a page of all built-in nodes, written from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vinode.cli.node_view import allowed_text, by_category, default_text, kind_text
from vinode.graph.node import AnyNodeType

_HEAD = """\
# Nodes

Written by `vinode nodes docs` from the nodes themselves; a test holds it current, so edit the
docstrings. What travels on wires is told in [data.md](data.md).
"""


def page(types: Iterable[AnyNodeType]) -> str:
    """Write the Markdown page: a section a category, a table of inputs and outputs a node."""
    groups = by_category(types)
    lines = [_HEAD]
    for category, members in groups:
        links = ", ".join(f"[{node.id}](#{_anchor(node.id)})" for node in members)
        lines.append(f"- **{category}**: {links}")
    for category, members in groups:
        lines += ["", f"## {category}"]
        for declared in members:
            lines += ["", *_node(declared)]
    return "\n".join(lines) + "\n"


def _node(declared: AnyNodeType) -> list[str]:
    lines = [f"### {declared.id}", "", declared.signature.help, ""]
    if declared.inputs:
        lines += ["| input | kind | default | may be | |", "|---|---|---|---|---|"]
        lines += [
            _row(
                f"`{port.name}`",
                kind_text(port),
                default_text(port),
                allowed_text(port, None),
                port.help,
            )
            for port in declared.inputs
        ]
    if declared.outputs:
        gap = [""] if declared.inputs else []
        lines += [*gap, "| output | kind | |", "|---|---|---|"]
        lines += [_row(f"`{port.name}`", kind_text(port), port.help) for port in declared.outputs]
    elif declared.is_output:
        lines += ["", "It has no outputs: it is an end of a workflow."]
    return lines


def _row(*cells: str) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*")


def _anchor(heading: str) -> str:
    """Name a heading's link as GitHub does.

    >>> _anchor("my_pack.Blur More")
    'my_packblur-more'
    """
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
