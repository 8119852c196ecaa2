"""Stable Diffusion 1.x (Rombach et al. 2021, arXiv:2112.10752), inpainting models, merges."""

from vinode.converters.stable_diffusion.family import Family

SD1 = Family(
    name="sd1",
    heads=8,
    head_width=0,
    linear=False,
    activation="quick_gelu",
    text_width=768,
    deep_layers=0,
    pad=49407,
)
