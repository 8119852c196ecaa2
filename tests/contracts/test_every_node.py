"""Promises that hold for every built-in node."""

import re

import pytest

from vinode.cli.pack_check import check
from vinode.graph.node import AnyNodeType
from vinode.graph.plugins import load_packs
from vinode.graph.ports import Input, Output, constant_problem

TYPES = load_packs().types
BUILTIN = [TYPES[id] for id in load_packs().packs[0].nodes]


def test_nothing_is_to_mend() -> None:
    """Help for node and inputs, categories, kinds, purity: what `vinode nodes check` looks at."""
    packs, faults = check("builtin")
    assert [pack.name for pack in packs] == ["builtin"]
    assert len(BUILTIN) > 20
    assert [str(fault) for fault in faults] == []


@pytest.mark.parametrize("declared", BUILTIN, ids=lambda declared: declared.id)
def test_a_node_says_what_it_is(declared: AnyNodeType) -> None:
    """A sentence that ends, a category of small words, kinds with a colour and a description."""
    first = declared.signature.help.splitlines()[0]
    assert re.match(r"[A-Z]", first)
    assert declared.signature.help.rstrip().endswith((".", "?", "!", "`"))
    assert re.fullmatch(r"[a-z]+(/[a-z]+)*", declared.category)
    assert declared.title.strip() == declared.title != ""
    ports: tuple[Input | Output, ...] = (*declared.inputs, *declared.outputs)
    for port in ports:
        assert re.fullmatch("#[0-9a-f]{6}", port.kind.colour), port
        assert port.kind.about, port


@pytest.mark.parametrize("declared", BUILTIN, ids=lambda declared: declared.id)
def test_a_default_may_stand_in_its_own_input(declared: AnyNodeType) -> None:
    """An untouched node is a valid one."""
    for port in declared.inputs:
        if not port.required and port.default is not None:
            assert constant_problem(port, port.default) is None, port.name
        if port.default is None:
            assert port.nullable, port.name


@pytest.mark.parametrize("declared", BUILTIN, ids=lambda declared: declared.id)
def test_names_of_ports_are_told_apart(declared: AnyNodeType) -> None:
    """Inputs and outputs are keyed by name in messages and in the browser."""
    assert len({port.name for port in declared.inputs}) == len(declared.inputs)
    assert len({port.name for port in declared.outputs}) == len(declared.outputs)
