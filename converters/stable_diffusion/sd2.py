"""Stable Diffusion 2.x: OpenCLIP's text encoder, heads of one width, and velocity at 768 pixels.

Whether a UNet predicts noise or velocity (Salimans & Ho 2022, arXiv:2202.00512) is in no shape.
The bias of one layer norm tells: its spread in the models trained on velocity is several times
that of the base models.
"""

from vinode.converters.stable_diffusion.family import Family

SD2 = Family(
    name="sd2",
    heads=0,
    head_width=64,
    linear=True,
    activation="gelu",
    text_width=1024,
    deep_layers=24,
    pad=0,
)

VELOCITY_TENSOR = "output_blocks.11.1.transformer_blocks.0.norm1.bias"
VELOCITY_SPREAD = 0.09  # standard deviation; velocity models lie above
