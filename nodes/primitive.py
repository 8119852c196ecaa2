"""Nodes for plain values: numbers, text, yes or no, a switch, and notes."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from vinode.graph.context import Lazy
from vinode.graph.errors import NodeError
from vinode.graph.node import node
from vinode.graph.ports import Range, Text
from vinode.nodes.algorithms.limits import MAX_TEXT
from vinode.nodes.algorithms.text_template import fill_template

_EVERY_INT = Range(-(2**63), 2**64 - 1)


class Switched(NamedTuple):
    """What a switch lets through.

    output  the value of the branch that was taken
    """

    output: object


@node("PrimitiveInt", category="value", title="Int", known=True)
def primitive_int(value: Annotated[int, _EVERY_INT] = 0) -> int:
    """Give a whole number to several nodes at once.

    value  the number
    """
    return value


@node("PrimitiveFloat", category="value", title="Float", known=True)
def primitive_float(value: float = 0.0) -> float:
    """Give a number to several nodes at once.

    value  the number
    """
    return float(value)


@node("PrimitiveString", category="value", title="String", known=True)
def primitive_string(value: str = "") -> str:
    """Give a line of text to several nodes at once.

    value  the text
    """
    return value


@node("PrimitiveStringMultiline", category="value", title="String (Multiline)", known=True)
def primitive_string_multiline(value: Annotated[str, Text(multiline=True)] = "") -> str:
    """Give a longer text to several nodes at once.

    value  the text
    """
    return value


@node("PrimitiveBoolean", category="value", title="Boolean", known=True)
def primitive_boolean(value: bool = False) -> bool:
    """Give yes or no to several nodes at once.

    value  yes or no
    """
    return value


@node("ComfySwitchNode", category="logic", title="Switch")
def comfy_switch_node(
    switch: bool = False,
    on_false: Lazy[object] | None = None,
    on_true: Lazy[object] | None = None,
) -> Switched:
    """Let one of two inputs through; the other is not even computed.

    switch    which one: on_true where it is on
    on_false  anything, given where the switch is off
    on_true   anything, given where the switch is on
    """
    taken, name = (on_true, "on_true") if switch else (on_false, "on_false")
    if taken is None:
        raise NodeError(f"the switch takes {name}, which has no wire", fix=f"connect {name}")
    return Switched(taken.value)


@node("StringConcatenate", category="text", title="Concatenate")
def string_concatenate(
    string_a: Annotated[str, Text(multiline=True)] = "",
    string_b: Annotated[str, Text(multiline=True)] = "",
    delimiter: str = "",
) -> str:
    """Join two texts.

    string_a   the first text
    string_b   the second text
    delimiter  what stands between them
    """
    length = len(string_a) + len(delimiter) + len(string_b)
    if length > MAX_TEXT:  # a chain of these doubles a text at each node
        raise NodeError(f"a text has at most {MAX_TEXT:,} characters", f"{length:,}")
    return f"{string_a}{delimiter}{string_b}"


@node("StringFormat", category="text", title="Format Text")
def string_format(
    template: Annotated[str, Text(multiline=True)] = "{a}",
    a: object | None = None,
    b: object | None = None,
    c: object | None = None,
    d: object | None = None,
) -> str:
    """Put values into a text: "seed {a}, {b:.2f} seconds".

    template    text with {a}, {b}, {c} and {d}; {a:05} or {a:.2f} say how; {{ is a brace
    a, b, c, d  what is put in; an image is described by its shape
    """
    return fill_template(template, {"a": a, "b": b, "c": c, "d": d})


@node("Note", category="note", output=False)
def note(text: Annotated[str, Text(multiline=True)] = "") -> None:
    """Keep a remark on the canvas; it does nothing.

    text  the remark
    """


@node("MarkdownNote", category="note", output=False)
def markdown_note(text: Annotated[str, Text(multiline=True)] = "") -> None:
    """Keep a remark with headings and lists on the canvas; it does nothing.

    text  the remark, in Markdown
    """
