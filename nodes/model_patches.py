"""Say what a denoising model's answers mean, and how guidance is brought back."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from vinode.graph.diffusion import DiffusionModel, Prediction
from vinode.graph.node import node
from vinode.graph.ports import Range

_LCM_STEPS = 50


@node("ModelSamplingDiscrete", category="advanced/model", known=True)
def model_sampling_discrete(
    model: DiffusionModel,
    sampling: Literal["eps", "v_prediction", "lcm"] = "eps",
    zsnr: bool = False,
) -> DiffusionModel:
    """Say what a model predicts, where its file does not tell.

    model     from a loader
    sampling  eps: the noise; v_prediction: between noise and picture; lcm: distilled to few steps
    zsnr      the last level is noise alone, as the model was trained
    """
    prediction: Prediction = "v_prediction" if sampling == "v_prediction" else "epsilon"
    schedule = replace(model.schedule, zero_snr=zsnr)
    steps = _LCM_STEPS if sampling == "lcm" else 0
    return replace(model, prediction=prediction, schedule=schedule, distilled_steps=steps)


@node("RescaleCFG", category="advanced/model", known=True)
def rescale_cfg(
    model: DiffusionModel, multiplier: Annotated[float, Range(0, 1, step=0.01)] = 0.7
) -> DiffusionModel:
    """Bring contrast back that strong guidance overdoes, above all with v_prediction and zsnr.

    model       from a loader
    multiplier  0 changes nothing, 1 brings all of the deviation back
    """
    return replace(model, rescale=multiplier)
