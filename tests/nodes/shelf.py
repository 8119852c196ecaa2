"""Nodes that give values which a test has put on a shelf, to run other nodes through the engine."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from tests.graph.engine import Engine, engine
from vinode.graph.diffusion import Clip, Conditioning, DiffusionModel, Latent, Sigmas, Vae
from vinode.graph.node import collect, node
from vinode.graph.values import Image, Mask

SHELF: dict[str, Any] = {}


@node("ShelfImage", category="test")
def shelf_image(name: str = "image") -> Image:
    """Give pictures from the shelf.

    name  under which they lie
    """
    value: Image = SHELF[name]
    return value


@node("ShelfMask", category="test")
def shelf_mask(name: str = "mask") -> Mask:
    """Give a mask from the shelf.

    name  under which it lies
    """
    value: Mask = SHELF[name]
    return value


@node("ShelfLatent", category="test")
def shelf_latent(name: str = "latent") -> Latent:
    """Give a latent from the shelf.

    name  under which it lies
    """
    value: Latent = SHELF[name]
    return value


@node("ShelfConditioning", category="test")
def shelf_conditioning(name: str = "conditioning") -> Conditioning:
    """Give prompts from the shelf.

    name  under which they lie
    """
    value: Conditioning = SHELF[name]
    return value


@node("ShelfSigmas", category="test")
def shelf_sigmas(name: str = "sigmas") -> Sigmas:
    """Give noise levels from the shelf.

    name  under which they lie
    """
    value: Sigmas = SHELF[name]
    return value


@node("ShelfModel", category="test")
def shelf_model(name: str = "model") -> DiffusionModel:
    """Give a denoising model from the shelf.

    name  under which it lies
    """
    value: DiffusionModel = SHELF[name]
    return value


@node("ShelfClip", category="test")
def shelf_clip(name: str = "clip") -> Clip:
    """Give a text encoder from the shelf.

    name  under which it lies
    """
    value: Clip = SHELF[name]
    return value


@node("ShelfVae", category="test")
def shelf_vae(name: str = "vae") -> Vae:
    """Give an autoencoder from the shelf.

    name  under which it lies
    """
    value: Vae = SHELF[name]
    return value


SHELVES = (
    shelf_image,
    shelf_mask,
    shelf_latent,
    shelf_conditioning,
    shelf_sigmas,
    shelf_model,
    shelf_clip,
    shelf_vae,
)


def with_shelf(*modules: ModuleType, **values: object) -> Engine:
    """Make an engine of the nodes of some modules and of the shelf, which has these values."""
    SHELF.clear()
    SHELF.update(values)
    return engine(*collect(modules).values(), *SHELVES)
