"""Node types over the network: complete, fresh, and cheap to ask for again."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from tests.web.visit import Visitor, visit
from vinode.graph.plugins import load_packs


def test_every_node_is_there_in_comfyuis_shape(tmp_path: Path) -> None:
    """Each input stands once, in one of the two sections, as [type or names, options]."""

    async def script(visitor: Visitor) -> None:
        found = (await visitor.get("/object_info")).json
        types = visitor.site.catalogue.packs.types
        assert list(found) == list(types)
        for id, declared in types.items():
            entry = found[id]
            sections = entry["input"]
            names = [*sections["required"], *sections["optional"]]
            assert sorted(names) == sorted(port.name for port in declared.inputs)
            assert entry["input_order"]["required"] == list(sections["required"])
            assert len(entry["output"]) == len(entry["output_name"]) == len(declared.outputs)
            for kind, options in [*sections["required"].values(), *sections["optional"].values()]:
                assert isinstance(kind, str | list)
                assert isinstance(options, dict)
        (one,) = (await visitor.get("/api/object_info/ImageScale")).json.values()
        assert one == found["ImageScale"]
        assert (await visitor.get("/object_info/Nothing")).json == {}

    visit(tmp_path, script)


def test_a_picture_that_is_new_is_offered_at_once(tmp_path: Path) -> None:
    """And where nothing is new, the answer is that nothing is."""

    async def script(visitor: Visitor) -> None:
        first = await visitor.get("/object_info")
        same = {"If-None-Match": first.headers["ETag"]}
        assert (await visitor.get("/object_info", headers=same)).status == 304
        (tmp_path / "input").mkdir()
        Image.new("RGB", (2, 2)).save(tmp_path / "input" / "fox.png")
        changed = await visitor.get("/object_info", headers=same)
        assert changed.status == 200
        names, options = changed.json["LoadImage"]["input"]["required"]["image"]
        assert names == ["fox.png"]
        assert options["image_upload"] is True
        ours = (await visitor.get("/vinode/nodes")).json
        (load,) = [node for node in ours["nodes"] if node["id"] == "LoadImage"]
        assert load["inputs"][0]["options"] == ["fox.png"]

    visit(tmp_path, script)


def test_the_canvas_is_told_kinds_units_and_help(tmp_path: Path) -> None:
    """All that a node's declaration says."""

    async def script(visitor: Visitor) -> None:
        told = (await visitor.get("/vinode/nodes")).json
        assert {node["id"] for node in told["nodes"]} == set(load_packs().types) | {
            id for id in visitor.site.catalogue.packs.types if id.startswith("rough.")
        }
        for node in told["nodes"]:
            for port in (*node["inputs"], *node["outputs"]):
                assert told["kinds"][port["kind"]]["colour"].startswith("#")
        (scale,) = [node for node in told["nodes"] if node["id"] == "ImageScale"]
        width = next(port for port in scale["inputs"] if port["name"] == "width")
        assert width["range"]["unit"] == "pixels"
        assert told["packs"][0]["name"] == "builtin"

    visit(tmp_path, script)
