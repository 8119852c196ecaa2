"""IR beside what its source answered: both in float32, on the same input."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from vinode.converters import ir
from vinode.converters.record import Verification
from vinode.converters.stable_diffusion.from_torch import CELLS, REFERENCE, TIMESTEP
from vinode.graph.errors import Fault, ModelError

WRONG_BELOW_DB = 30.0  # float16 weights alone leave 50 to 100 dB


def compare(folder: Path, name: str) -> tuple[Verification, dict[str, Any]]:
    """Run the IR of a folder on the input in reference.npz; ModelError where it answers otherwise.

    name     of the part, for people
    returns  what was measured; inputs, outputs and weights_dtype of the IR
    """
    core, place = ir.new_core(), folder / REFERENCE
    with np.load(place) as kept:
        given = {key[3:]: kept[key] for key in kept.files if key.startswith("in:")}
        wanted = {key: kept[key] for key in kept.files if not key.startswith("in:")}
    core.set_property({"ENABLE_MMAP": True})  # half of the memory; this process ends right after
    model = ir.read_as_it_is(core, folder / "model.xml")
    inputs, outputs = ([asdict(port) for port in ports] for ports in ir.ports(model))
    told = {"inputs": inputs, "outputs": outputs, "weights_dtype": ir.weights_dtype(model)}
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    del model
    answers = compiled(given)
    rows = [ir.difference(np.array(answers[key]), array) for key, array in wanted.items()]
    checked = Verification(
        max_error=max(row[0] for row in rows),
        snr_db=min((row[1] for row in rows if row[1] is not None), default=None),
        cosine=min(row[2] for row in rows),
        input=f"numpy.random.default_rng(0), {CELLS} x {CELLS} cells, timestep {TIMESTEP:g}",
    )
    if any(not np.isfinite(array).all() for array in wanted.values()):
        problem = "the model answers NaN or infinity, even in float32"
        fix = "its weights are broken: download it again, or find another merge"
        raise ModelError(Fault(name, problem, fix=fix, code="wrong-result"))
    if checked.snr_db is not None and checked.snr_db < WRONG_BELOW_DB:
        problem = f"the converted model answers otherwise than its source ({checked.snr_db:.1f} dB)"
        fix = "its weights may not fit float16: report it with the model's name"
        raise ModelError(Fault(name, problem, fix=fix, code="wrong-result"))
    return checked, told
