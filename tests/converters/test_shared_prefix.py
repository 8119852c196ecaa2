"""UNets of diffusers, converted: one latent for several prompts, as if it were repeated."""

# torch, diffusers and transformers are in no environment that is checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

from tests.converters.diffusion_models import WIDTH, save_folder, tiny
from vinode.converters import ir
from vinode.converters.stable_diffusion.look import look
from vinode.graph.diffusion import time_waves
from vinode.graph.sharing import full, share

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]


@pytest.fixture(scope="module", params=["sd1", "sd2", "inpainting"])
def xml(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Convert the UNet of a tiny pipeline with random weights."""
    import torch

    from vinode.converters.stable_diffusion import from_torch

    torch.set_num_threads(1)  # many would wait for each other beside other programs
    home = tmp_path_factory.mktemp(request.param)
    in_channels = 9 if request.param == "inpainting" else 4
    models = tiny(sd2=request.param == "sd2", in_channels=in_channels)
    found = look(save_folder(models, home))
    folder = home / "ir"
    folder.mkdir()
    from_torch.convert(found.parts["unet"], folder, lambda step: None)
    return folder / "model.xml"


def run(model: ov.Model, inputs: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Run in float32."""
    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    return np.array(ir.new_core().compile_model(model, "CPU", exact)(inputs)["prediction"])


@pytest.mark.parametrize(
    ("batch", "prompts", "size"), [(1, 2, (8, 8)), (2, 2, (9, 13)), (1, 3, (9, 13))]
)
def test_one_latent_for_several_prompts(
    xml: Path, batch: int, prompts: int, size: tuple[int, int]
) -> None:
    """The same but for rounding; convolutions before the first attention to the text run once."""
    rows = batch * prompts
    core = ir.new_core()
    channels = core.read_model(xml).input("sample").get_partial_shape()[1].get_length()
    shapes = (
        ("sample", (batch, channels, *size)),
        ("time", (32,)),
        ("context", (rows, 77, WIDTH)),
    )
    random = np.random.default_rng(7)
    given = {name: random.standard_normal(shape, np.float32) for name, shape in shapes}
    given["time"] = time_waves(601.37, 32)
    models: list[ov.Model] = []
    for _ in range(2):
        models.append(core.read_model(xml))
        models[-1].reshape({name: list(shape) for name, shape in full(shapes)})
    shared = share(models[1], dict(shapes))
    convolutions = [
        op.get_output_shape(0)[0]
        for op in shared.get_ordered_ops()
        if op.get_type_name() == "Convolution"
    ]
    assert convolutions.count(batch) >= 3  # the first one, and the first residual block's two
    assert convolutions.count(rows) > convolutions.count(batch)
    repeated = {**given, "sample": np.concatenate([given["sample"]] * prompts)}
    wanted, got = run(models[0], repeated), run(shared, given)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
