"""Stable Diffusion checkpoints -> OpenVINO IR in the model store, part by part.

`load` has what loader nodes call. Nothing here imports torch before something must be converted.
"""
