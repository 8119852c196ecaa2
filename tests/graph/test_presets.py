"""Presets for nodes that say nothing themselves."""

from __future__ import annotations

import pytest

from vinode.graph.errors import VinodeError
from vinode.graph.plugins import load_packs
from vinode.graph.presets import fill_in
from vinode.graph.workflow import NodeId, from_json


def test_a_preset_fills_in_what_nodes_leave_open() -> None:
    """By the kind of their model; a node's own hint stays, and so does a node without a model."""
    own = {"class_type": "VAEDecode", "inputs": {}, "_meta": {"device": "CPU"}}
    nodes = {"1": {"class_type": "VAEDecode"}, "2": own, "3": {"class_type": "ImageInvert"}}
    workflow, rest = fill_in(from_json(nodes), "unet-npu!", load_packs(()).types, "")
    devices = {id: workflow.nodes[NodeId(id)].meta.get("device") for id in nodes}
    assert devices == {"1": "GPU!", "2": "CPU", "3": None}
    assert rest.text == "CPU!"


def test_a_hint_changes_no_node_and_a_mistyped_preset_is_named() -> None:
    """The nearest preset stands in the sentence."""
    workflow = from_json({"1": {"class_type": "VAEDecode"}})
    types = load_packs(()).types
    assert fill_in(workflow, "npu", types, "")[0] is workflow
    with pytest.raises(VinodeError, match="did you mean unet-npu"):
        fill_in(workflow, "unet-nup", types, "--device")
